-- A number beside what its column's comment says of codes.

-- schema: trade
SELECT order_id FROM orders WHERE status = 'invoiced'
=>
SELECT order_id FROM orders WHERE status = 30

-- schema: trade
SELECT o.order_id FROM orders AS o WHERE o.status IN ('New', 'paid')
=>
SELECT o.order_id FROM orders AS o WHERE o.status IN (10, 20)

-- a code is none
-- schema: trade
SELECT order_id FROM orders WHERE status = '30'
=>
unchanged

-- nothing is said of it
-- schema: trade
SELECT order_id FROM orders WHERE status = 'lost'
=>
unchanged

-- a text may be stored
-- schema: trade
SELECT order_id FROM orders WHERE state = 'paid'
=>
unchanged
