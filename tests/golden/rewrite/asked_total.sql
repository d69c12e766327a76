-- The sum of the one column of numbers that is shown, where the question asks how many, or for a total.

-- schema: terse
-- question: How much was paid to department 3?
SELECT amt FROM pay WHERE dpt_id = 3
=>
SELECT SUM(amt) FROM pay WHERE dpt_id = 3

-- schema: terse
-- question: total payments
SELECT DISTINCT p.amt AS paid FROM pay AS p JOIN dpt AS d ON p.dpt_id = d.dpt_id
=>
SELECT SUM(p.amt) FROM pay AS p JOIN dpt AS d ON p.dpt_id = d.dpt_id

-- no total is asked for
-- schema: terse
-- question: payments of department 3
SELECT amt FROM pay WHERE dpt_id = 3
=>
unchanged

-- one number for each is asked for
-- schema: terse
-- question: total payments per department
SELECT amt FROM pay
=>
unchanged

-- a key
-- schema: terse
-- question: How many departments were paid?
SELECT dpt_id FROM pay
=>
unchanged

-- the first of an order
-- schema: terse
-- question: How much was the last payment?
SELECT amt FROM pay ORDER BY pd_on DESC LIMIT 1
=>
unchanged

-- something else beside it
-- schema: terse
-- question: How much was paid, and when?
SELECT amt, pd_on FROM pay
=>
unchanged

-- it is added up
-- schema: terse
-- question: How much was paid?
SELECT SUM(amt) FROM pay
=>
unchanged
