-- COUNT(*) behind a left join counts a row that is not there.

-- schema: trade
SELECT c.name, COUNT(*) FROM customer AS c LEFT JOIN orders AS o ON o.customer_id = c.customer_id GROUP BY c.customer_id, c.name
=>
SELECT c.name, COUNT(o.customer_id) FROM customer AS c LEFT JOIN orders AS o ON o.customer_id = c.customer_id GROUP BY c.customer_id, c.name

-- each row is there
-- schema: trade
SELECT c.name, COUNT(*) FROM customer AS c JOIN orders AS o ON o.customer_id = c.customer_id GROUP BY c.customer_id, c.name
=>
unchanged

-- what is joined is one
-- schema: trade
SELECT o.status, COUNT(*) FROM orders AS o LEFT JOIN customer AS c ON o.customer_id = c.customer_id GROUP BY o.status
=>
unchanged

-- it is tested
-- schema: trade
SELECT c.name, COUNT(*) FROM customer AS c LEFT JOIN orders AS o ON o.customer_id = c.customer_id WHERE o.order_id IS NULL GROUP BY c.name
=>
unchanged
