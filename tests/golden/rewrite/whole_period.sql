-- A year, quarter or month that the question names is all of its days.

-- schema: terse
-- question: What was paid in 2020?
SELECT SUM(amt) FROM pay WHERE pd_on = '2020-01-01'
=>
SELECT SUM(amt) FROM pay WHERE (pd_on >= '2020-01-01' AND pd_on < '2021-01-01')

-- schema: terse
-- question: payments in December 2020
SELECT pay_id FROM pay AS p WHERE p.pd_on = CAST('2020-12-31' AS DATE) AND p.amt > 3
=>
SELECT pay_id FROM pay AS p WHERE (p.pd_on >= '2020-12-01' AND p.pd_on < '2021-01-01') AND p.amt > 3

-- schema: terse
-- question: payments after 2019
SELECT pay_id FROM pay WHERE pd_on > '2019-01-01'
=>
SELECT pay_id FROM pay WHERE pd_on >= '2020-01-01'

-- schema: terse
-- question: payments before the year 2020
SELECT pay_id FROM pay WHERE pd_on <= '2020-12-31'
=>
SELECT pay_id FROM pay WHERE pd_on < '2020-01-01'

-- the last day of a timestamp has hours
-- schema: terse
-- question: payments booked in Q4 2020
SELECT pay_id FROM pay WHERE bkd_at BETWEEN '2020-10-01' AND '2020-12-31'
=>
SELECT pay_id FROM pay WHERE (bkd_at >= '2020-10-01' AND bkd_at < '2021-01-01')

-- all but a period
-- schema: terse
-- question: payments not booked in Q4 2020
SELECT pay_id FROM pay WHERE NOT bkd_at BETWEEN '2020-10-01' AND '2020-12-31'
=>
SELECT pay_id FROM pay WHERE NOT (bkd_at >= '2020-10-01' AND bkd_at < '2021-01-01')

-- that of a date has none
-- schema: terse
-- question: payments in Q4 2020
SELECT pay_id FROM pay WHERE pd_on BETWEEN '2020-10-01' AND '2020-12-31'
=>
unchanged

-- it is said already
-- schema: terse
-- question: payments in 2020
SELECT pay_id FROM pay WHERE pd_on >= '2020-01-01' AND pd_on < '2021-01-01'
=>
unchanged

-- a day is asked for
-- schema: terse
-- question: payments on December 31, 2020
SELECT pay_id FROM pay WHERE pd_on = '2020-12-31'
=>
unchanged

-- a number that is no year
-- schema: terse
-- question: payments over 2020 dollars
SELECT pay_id FROM pay WHERE amt > 2020
=>
unchanged
