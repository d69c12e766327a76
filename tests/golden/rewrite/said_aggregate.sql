-- The average, maximum or minimum that the question says, of the one column of numbers that is shown.

-- schema: terse
-- question: average payment of department 3
SELECT amt FROM pay WHERE dpt_id = 3
=>
SELECT AVG(amt) FROM pay WHERE dpt_id = 3

-- schema: terse
-- question: What is the maximum amount?
SELECT DISTINCT p.amt FROM pay AS p
=>
SELECT MAX(p.amt) FROM pay AS p

-- both are said: which of them?
-- schema: terse
-- question: minimum and maximum amount
SELECT amt FROM pay
=>
unchanged

-- it is taken
-- schema: terse
-- question: payments above the average
SELECT amt FROM pay WHERE amt > (SELECT AVG(amt) FROM pay)
=>
unchanged

-- of a key
-- schema: terse
-- question: average payments of each department
SELECT dpt_id FROM pay
=>
unchanged

-- the first of an order is the greatest
-- schema: terse
-- question: maximum amount
SELECT amt FROM pay ORDER BY amt DESC LIMIT 1
=>
unchanged

-- a verb
-- schema: terse
-- question: What does amt mean?
SELECT amt FROM pay
=>
unchanged
