-- A number is compared as the question says.

-- schema: terse
-- question: payments of over 2
SELECT pay_id FROM pay WHERE amt = 2
=>
SELECT pay_id FROM pay WHERE amt > 2

-- schema: terse
-- question: departments with at least 3 payments
SELECT dpt_id FROM pay GROUP BY dpt_id HAVING COUNT(*) > 3
=>
SELECT dpt_id FROM pay GROUP BY dpt_id HAVING COUNT(*) >= 3

-- on the other side
-- schema: terse
-- question: payments under 1,000
SELECT pay_id FROM pay WHERE 1000 < amt
=>
SELECT pay_id FROM pay WHERE 1000 > amt

-- as it is said
-- schema: terse
-- question: payments of more than 5
SELECT pay_id FROM pay WHERE amt > 5
=>
unchanged

-- another number
-- schema: terse
-- question: departments with at least 3 payments
SELECT dpt_id FROM pay GROUP BY dpt_id HAVING COUNT(*) > 2
=>
unchanged

-- above or below
-- schema: terse
-- question: payments below 5 or above 5
SELECT pay_id FROM pay WHERE amt <> 5
=>
unchanged

-- a range
-- schema: terse
-- question: payments over 5
SELECT pay_id FROM pay WHERE amt BETWEEN 5 AND 9
=>
unchanged

-- it is denied
-- schema: terse
-- question: payments of not more than 5
SELECT pay_id FROM pay WHERE amt <= 5
=>
unchanged

-- it is denied at a distance
-- schema: terse
-- question: departments that do not have more than 5 payments
SELECT dpt_id FROM pay GROUP BY dpt_id HAVING COUNT(*) <= 5
=>
unchanged
