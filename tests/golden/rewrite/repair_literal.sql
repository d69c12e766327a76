-- Looks where it is held for a text that a number or a date is compared with.

-- schema: terse
-- values: dpt.dpt_nm = Sales
SELECT SUM(amt) FROM pay WHERE dpt_id = 'Sales'
=>
SELECT SUM(amt) FROM pay WHERE dpt_id IN (SELECT dpt_id FROM dpt WHERE dpt_nm = 'Sales')

-- in a column of the table
-- schema: codes
-- values: pay.payee = Ann
SELECT dpt_cd FROM pay WHERE amt = 'Ann'
=>
SELECT dpt_cd FROM pay WHERE payee = 'Ann'

-- a date
-- schema: terse
-- values: dpt.dpt_nm = Sales
SELECT SUM(p.amt) FROM pay AS p WHERE p.pd_on = 'Sales'
=>
SELECT SUM(p.amt) FROM pay AS p WHERE p.dpt_id IN (SELECT dpt_id FROM dpt WHERE dpt_nm = 'Sales')

-- it may be one
-- schema: terse
-- values: dpt.dpt_nm = 2020
SELECT SUM(amt) FROM pay WHERE pd_on = '2020-01-01' AND amt = '12'
=>
unchanged

-- nothing is known to hold it
-- schema: terse
SELECT SUM(amt) FROM pay WHERE pd_on = 'Sales'
=>
unchanged

-- a text is compared with a text
-- schema: codes
-- values: dpt.dpt_nm = Sales
SELECT SUM(amt) FROM pay WHERE dpt_cd = 'Sales'
=>
unchanged

-- its column's table is not read, and no reference leads there
-- schema: codes
-- values: dpt.dpt_nm = Sales; pay.payee = Sales
SELECT SUM(amt) FROM pay WHERE firm.payee = 'Sales'
=>
SELECT SUM(amt) FROM pay WHERE pay.payee = 'Sales'

-- its own table can be joined
-- schema: codes
-- values: pay.payee = Sales
SELECT SUM(amt) FROM pay WHERE dpt.dpt_nm = 'Sales'
=>
unchanged

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
