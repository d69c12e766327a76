-- A count of what is joined with many counts these.

-- schema: trade
SELECT i.quantity, COUNT(o.order_id) FROM item AS i JOIN orders AS o ON o.order_id = i.order_id GROUP BY i.quantity
=>
SELECT i.quantity, COUNT(DISTINCT o.order_id) FROM item AS i JOIN orders AS o ON o.order_id = i.order_id GROUP BY i.quantity

-- of each there would be one
-- schema: trade
SELECT o.order_id, COUNT(o.order_id) FROM item AS i JOIN orders AS o ON o.order_id = i.order_id GROUP BY o.order_id
=>
unchanged

-- nothing is joined
-- schema: trade
SELECT quantity, COUNT(order_id) FROM item GROUP BY quantity
=>
unchanged
