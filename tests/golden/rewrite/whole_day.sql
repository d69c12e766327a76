-- A day that a timestamp is compared with is all of it.

-- schema: terse
SELECT pay_id FROM pay WHERE bkd_at = '2020-12-05 00:00:00'
=>
SELECT pay_id FROM pay WHERE (bkd_at >= '2020-12-05' AND bkd_at < '2020-12-06')

-- schema: terse
SELECT pay_id FROM pay AS p WHERE p.bkd_at = CAST('2020-12-31' AS DATE) AND p.amt > 3
=>
SELECT pay_id FROM pay AS p WHERE (p.bkd_at >= '2020-12-31' AND p.bkd_at < '2021-01-01') AND p.amt > 3

-- schema: terse
SELECT pay_id FROM pay WHERE bkd_at <> '2020-12-05'
=>
SELECT pay_id FROM pay WHERE NOT (bkd_at >= '2020-12-05' AND bkd_at < '2020-12-06')

-- the last of several days
-- schema: terse
SELECT pay_id FROM pay WHERE bkd_at BETWEEN '2020-10-01' AND '2020-12-31'
=>
SELECT pay_id FROM pay WHERE (bkd_at >= '2020-10-01' AND bkd_at < '2021-01-01')

-- schema: terse
SELECT pay_id FROM pay WHERE bkd_at >= '2020-10-01' AND bkd_at <= '2020-12-31'
=>
SELECT pay_id FROM pay WHERE bkd_at >= '2020-10-01' AND bkd_at < '2021-01-01'

-- a date has no hours
-- schema: terse
SELECT pay_id FROM pay WHERE pd_on = '2020-12-31' AND pd_on BETWEEN '2020-10-01' AND '2020-12-31'
=>
unchanged

-- an hour is said
-- schema: terse
SELECT pay_id FROM pay WHERE bkd_at = '2020-12-31 12:00:00'
=>
unchanged

-- it is said already
-- schema: terse
SELECT pay_id FROM pay WHERE bkd_at >= '2020-12-05' AND bkd_at < '2020-12-06'
=>
unchanged

-- the day of it
-- schema: terse
SELECT pay_id FROM pay WHERE CAST(bkd_at AS DATE) = '2020-12-05'
=>
unchanged

-- which of two is the last is not said
-- schema: terse
SELECT pay_id FROM pay WHERE bkd_at BETWEEN SYMMETRIC '2020-12-31' AND '2020-10-01'
=>
unchanged
