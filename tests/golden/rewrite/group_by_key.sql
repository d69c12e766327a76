-- Names are not keys.

-- schema: trade
SELECT c.name, COUNT(*) FROM orders AS o JOIN customer AS c ON o.customer_id = c.customer_id GROUP BY c.name
=>
SELECT c.name, COUNT(*) FROM orders AS o JOIN customer AS c ON o.customer_id = c.customer_id GROUP BY c.name, c.customer_id

-- the key is there
-- schema: trade
SELECT c.name, COUNT(*) FROM orders AS o JOIN customer AS c ON o.customer_id = c.customer_id GROUP BY c.customer_id, c.name
=>
unchanged

-- how many have a name
-- schema: trade
SELECT name, COUNT(*) FROM customer GROUP BY name
=>
unchanged

-- no name
-- schema: trade
SELECT o.status, COUNT(*) FROM orders AS o JOIN item AS i ON i.order_id = o.order_id GROUP BY o.status
=>
unchanged
