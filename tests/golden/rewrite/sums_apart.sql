-- Two tables that refer to one repeat each other's rows.

-- schema: trade
SELECT o.order_id, SUM(i.quantity), SUM(p.amount) FROM orders AS o JOIN item AS i ON i.order_id = o.order_id JOIN payment AS p ON p.order_id = o.order_id GROUP BY o.order_id
=>
SELECT o.order_id, SUM((SELECT SUM(i.quantity) FROM item AS i WHERE i.order_id = o.order_id)), SUM((SELECT SUM(p.amount) FROM payment AS p WHERE p.order_id = o.order_id)) FROM orders AS o GROUP BY o.order_id

-- left joins, USING, tests of each, an order
-- schema: trade
SELECT c.name, COALESCE(SUM(i.quantity), 0) AS n, COUNT(DISTINCT p.payment_id) FROM orders AS o JOIN customer AS c USING (customer_id) LEFT JOIN item AS i USING (order_id) LEFT JOIN payment AS p USING (order_id) WHERE p.amount > 3 AND o.status > 5 GROUP BY c.customer_id, c.name, o.order_id ORDER BY n DESC
=>
SELECT c.name, COALESCE(SUM((SELECT SUM(i.quantity) FROM item AS i WHERE i.order_id = o.order_id)), 0) AS n, SUM((SELECT COUNT(p.payment_id) FROM payment AS p WHERE p.order_id = o.order_id AND p.amount > 3)) FROM orders AS o JOIN customer AS c ON o.customer_id = c.customer_id WHERE o.status > 5 GROUP BY c.customer_id, c.name, o.order_id ORDER BY n DESC

-- all together
-- schema: trade
SELECT SUM(i.quantity), SUM(p.amount) FROM orders AS o JOIN item AS i ON i.order_id = o.order_id JOIN payment AS p ON p.order_id = o.order_id
=>
SELECT SUM((SELECT SUM(i.quantity) FROM item AS i WHERE i.order_id = o.order_id)), SUM((SELECT SUM(p.amount) FROM payment AS p WHERE p.order_id = o.order_id)) FROM orders AS o

-- one table alone
-- schema: trade
SELECT o.order_id, SUM(i.quantity) FROM orders AS o JOIN item AS i ON i.order_id = o.order_id GROUP BY o.order_id
=>
unchanged

-- averages of several groups cannot be put together
-- schema: trade
SELECT o.status, AVG(i.quantity), SUM(p.amount) FROM orders AS o JOIN item AS i ON i.order_id = o.order_id JOIN payment AS p ON p.order_id = o.order_id GROUP BY o.status
=>
unchanged

-- a test of both
-- schema: trade
SELECT o.order_id, SUM(i.quantity), SUM(p.amount) FROM orders AS o JOIN item AS i ON i.order_id = o.order_id JOIN payment AS p ON p.order_id = o.order_id WHERE i.quantity > p.amount GROUP BY o.order_id
=>
unchanged

-- which rows are counted is not known
-- schema: trade
SELECT o.order_id, COUNT(*), SUM(p.amount) FROM orders AS o JOIN item AS i ON i.order_id = o.order_id JOIN payment AS p ON p.order_id = o.order_id GROUP BY o.order_id
=>
unchanged
