-- A count of what is joined with many counts these.

-- schema: trade
SELECT i.quantity, COUNT(o.order_id) FROM item AS i JOIN orders AS o ON o.order_id = i.order_id GROUP BY i.quantity
=>
SELECT i.quantity, COUNT(DISTINCT o.order_id) FROM item AS i JOIN orders AS o ON o.order_id = i.order_id GROUP BY i.quantity

-- a reference to what is asked for
-- schema: trade
-- question: How many orders have each quantity?
SELECT quantity, COUNT(order_id) FROM item GROUP BY quantity
=>
SELECT quantity, COUNT(DISTINCT order_id) FROM item GROUP BY quantity

-- of each there would be one
-- schema: trade
SELECT o.order_id, COUNT(o.order_id) FROM item AS i JOIN orders AS o ON o.order_id = i.order_id GROUP BY o.order_id
=>
unchanged

-- the many are asked for
-- schema: trade
-- question: How many items are there of each quantity?
SELECT quantity, COUNT(order_id) FROM item GROUP BY quantity
=>
unchanged
