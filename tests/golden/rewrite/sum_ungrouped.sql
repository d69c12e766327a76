-- A calculation for a group is of what is grouped by, and of aggregates.

-- schema: trade
SELECT customer_id, SUM(total) * 100.0 / status AS share FROM orders GROUP BY customer_id
=>
SELECT customer_id, SUM(total) * 100.0 / SUM(status) AS share FROM orders GROUP BY customer_id

-- without groups, too
-- schema: trade
SELECT AVG(total) - (status + 1) FROM orders
=>
SELECT AVG(total) - (AVG(status) + 1) FROM orders

-- of columns alone
-- schema: trade
SELECT customer_id, (status * 100) / total AS share FROM orders GROUP BY customer_id
=>
SELECT customer_id, (SUM(status) * 100) / SUM(total) AS share FROM orders GROUP BY customer_id

-- of each row
-- schema: trade
SELECT status * 100 / total FROM orders
=>
unchanged

-- it is what is grouped by
-- schema: trade
SELECT SUM(total) / status FROM orders GROUP BY status
=>
unchanged

-- a number of its own
-- schema: trade
SELECT state, SUM(total) FROM orders GROUP BY order_id
=>
unchanged

-- how many it is divided by is not told
-- schema: trade
SELECT COUNT(*) / total FROM orders
=>
unchanged
