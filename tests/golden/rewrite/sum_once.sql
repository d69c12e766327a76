-- A table that only filters repeats the rows that are added up.

-- schema: trade
SELECT SUM(o.total) FROM orders AS o JOIN item AS i ON i.order_id = o.order_id WHERE i.quantity > 3
=>
SELECT SUM(o.total) FROM orders AS o WHERE o.order_id IN (SELECT i.order_id FROM item AS i WHERE i.quantity > 3)

-- over a table in between, and a test that stays
-- schema: trade
SELECT SUM(p.amount) FROM payment AS p JOIN orders AS o ON p.order_id = o.order_id JOIN item AS i ON o.order_id = i.order_id WHERE i.quantity > 3 AND p.amount > 1
=>
SELECT SUM(p.amount) FROM payment AS p WHERE p.amount > 1 AND p.order_id IN (SELECT o.order_id FROM orders AS o JOIN item AS i ON o.order_id = i.order_id WHERE i.quantity > 3)

-- both refer to one
-- schema: trade
SELECT AVG(p.amount) FROM payment AS p JOIN item AS i ON p.order_id = i.order_id WHERE i.quantity > 3
=>
SELECT AVG(p.amount) FROM payment AS p WHERE p.order_id IN (SELECT i.order_id FROM item AS i WHERE i.quantity > 3)

-- what is referred to repeats nothing
-- schema: trade
SELECT SUM(i.quantity) FROM item AS i JOIN orders AS o ON i.order_id = o.order_id WHERE o.status = 20
=>
unchanged

-- it is shown
-- schema: trade
SELECT i.quantity, SUM(o.total) FROM orders AS o JOIN item AS i ON i.order_id = o.order_id WHERE i.quantity > 3 GROUP BY i.quantity
=>
unchanged

-- the greatest is the same
-- schema: trade
SELECT MAX(o.total) FROM orders AS o JOIN item AS i ON i.order_id = o.order_id WHERE i.quantity > 3
=>
unchanged

-- nothing tells which side is many
-- schema: keyless
SELECT SUM(s.stadium_id) FROM stadium AS s JOIN singer AS i ON s.name = i.country WHERE i.artist_name = 'x'
=>
unchanged

-- a test that denies says nothing of the other rows
-- schema: trade
SELECT SUM(o.total) FROM orders AS o JOIN item AS i ON i.order_id = o.order_id WHERE i.quantity <> 3
=>
unchanged
