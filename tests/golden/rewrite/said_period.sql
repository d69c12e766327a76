-- A date that is tested for another span of time than the one that the question says.

-- schema: terse
-- question: What was paid last month?
SELECT SUM(amt) FROM pay WHERE pd_on >= CURRENT_TIMESTAMP - INTERVAL '1 MONTH'
=>
SELECT SUM(amt) FROM pay WHERE pd_on >= '2020-12-01' AND pd_on < '2021-01-01'

-- other tests stay, and the last day has hours
-- schema: terse
-- question: payments of last year
SELECT p.pay_id FROM pay AS p WHERE p.amt > 3 AND p.bkd_at BETWEEN '2020-01-01' AND '2020-12-31'
=>
SELECT p.pay_id FROM pay AS p WHERE p.amt > 3 AND p.bkd_at >= '2020-01-01' AND p.bkd_at < '2021-01-01'

-- the first moment behind it is not of it
-- schema: terse
-- question: payments booked in 2019
SELECT pay_id FROM pay WHERE bkd_at >= '2019-01-01' AND bkd_at <= '2020-01-01'
=>
SELECT pay_id FROM pay WHERE bkd_at >= '2019-01-01' AND bkd_at < '2020-01-01'

-- a month without a year is the last one
-- schema: terse
-- question: payments in October
SELECT pay_id FROM pay WHERE pd_on >= '2019-10-01' AND pd_on < '2019-11-01'
=>
SELECT pay_id FROM pay WHERE pd_on >= '2020-10-01' AND pd_on < '2020-11-01'

-- schema: terse
-- question: payments this year
SELECT pay_id FROM pay WHERE EXTRACT(YEAR FROM pd_on) = 2020
=>
SELECT pay_id FROM pay WHERE pd_on >= '2021-01-01' AND pd_on < '2022-01-01'

-- it is said, whatever lies behind today
-- schema: terse
-- question: payments this year
SELECT pay_id FROM pay WHERE pd_on >= DATE_TRUNC('YEAR', CURRENT_TIMESTAMP)
=>
unchanged

-- schema: terse
-- question: payments last month
SELECT pay_id FROM pay WHERE DATE_TRUNC('MONTH', bkd_at) = DATE_TRUNC('MONTH', CURRENT_DATE - INTERVAL '1 MONTH')
=>
unchanged

-- people count them in several ways
-- schema: terse
-- question: payments in the last 7 days
SELECT pay_id FROM pay WHERE pd_on >= '2020-06-01'
=>
unchanged

-- which of two is tested is not known
-- schema: terse
-- question: payments of last month, booked this month
SELECT pay_id FROM pay WHERE pd_on >= '2020-06-01'
=>
unchanged

-- a test that cannot be read
-- schema: terse
-- question: payments in October
SELECT pay_id FROM pay WHERE EXTRACT(MONTH FROM pd_on) = 10
=>
unchanged

-- a day is named
-- schema: terse
-- question: payments of last year up to 2020-06-30
SELECT pay_id FROM pay WHERE pd_on <= '2020-06-30'
=>
unchanged

-- what is denied of all days since then was before
-- schema: terse
-- question: What has not been paid since 2020?
SELECT pay_id FROM pay WHERE pd_on < '2020-01-01'
=>
unchanged

-- schema: terse
-- question: What was paid since 2020?
SELECT pay_id FROM pay WHERE pd_on < '2020-01-01'
=>
SELECT pay_id FROM pay WHERE pd_on >= '2020-01-01'
