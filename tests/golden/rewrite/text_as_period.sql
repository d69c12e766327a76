-- A year or a month that a text says is all of its days where a date is compared with it, which PostgreSQL refuses as it stands.

-- schema: terse
SELECT SUM(amt) FROM pay WHERE pd_on LIKE '2024%'
=>
SELECT SUM(amt) FROM pay WHERE (pd_on >= '2024-01-01' AND pd_on < '2025-01-01')

-- schema: terse
SELECT AVG(amt) FROM pay AS p WHERE p.bkd_at LIKE '2024-12-%' AND p.amt > 3
=>
SELECT AVG(amt) FROM pay AS p WHERE (p.bkd_at >= '2024-12-01' AND p.bkd_at < '2025-01-01') AND p.amt > 3

-- all times of a day
-- schema: terse
SELECT pay_id FROM pay WHERE NOT bkd_at LIKE '2024-02-29%'
=>
SELECT pay_id FROM pay WHERE NOT (bkd_at >= '2024-02-29' AND bkd_at < '2024-03-01')

-- schema: terse
SELECT pay_id FROM pay WHERE pd_on = CAST('2018-02' AS DATE) OR pd_on <> '2018'
=>
SELECT pay_id FROM pay WHERE (pd_on >= '2018-02-01' AND pd_on < '2018-03-01') OR NOT (pd_on >= '2018-01-01' AND pd_on < '2019-01-01')

-- schema: terse
SELECT pay_id FROM pay WHERE pd_on > '2018-12' AND pd_on <= '2020' AND bkd_at >= '2019-02' AND bkd_at < '2020'
=>
SELECT pay_id FROM pay WHERE pd_on >= '2019-01-01' AND pd_on < '2021-01-01' AND bkd_at >= '2019-02-01' AND bkd_at < '2020-01-01'

-- schema: terse
SELECT pay_id FROM pay WHERE pd_on BETWEEN '2018-02' AND '2018-03' OR bkd_at BETWEEN '2018-01-15' AND '2018'
=>
SELECT pay_id FROM pay WHERE (pd_on >= '2018-02-01' AND pd_on < '2018-04-01') OR (bkd_at >= '2018-01-15' AND bkd_at < '2019-01-01')

-- the first day is what date_trunc gives
-- schema: terse
SELECT pay_id FROM pay WHERE DATE_TRUNC('MONTH', pd_on) = '2018-02'
=>
SELECT pay_id FROM pay WHERE DATE_TRUNC('MONTH', pd_on) = '2018-02-01'

-- any other pattern is one of the date's text
-- schema: terse
SELECT pay_id FROM pay WHERE pd_on LIKE '%-12-%'
=>
SELECT pay_id FROM pay WHERE CAST(pd_on AS TEXT) LIKE '%-12-%'

-- schema: terse
SELECT pay_id FROM pay WHERE DATE_TRUNC('MONTH', pd_on) BETWEEN '2018-02-01' AND '2018-03-01' AND pd_on LIKE '2018%'
=>
SELECT pay_id FROM pay WHERE DATE_TRUNC('MONTH', pd_on) BETWEEN '2018-02-01' AND '2018-03-01' AND (pd_on >= '2018-01-01' AND pd_on < '2019-01-01')

-- no month
-- schema: terse
SELECT pay_id FROM pay WHERE pd_on = '2018-13'
=>
unchanged

-- a day
-- schema: terse
SELECT pay_id FROM pay WHERE pd_on = '2018-12-01'
=>
unchanged

-- a text
SELECT artist_name FROM singer WHERE country LIKE '2024%' OR country = '2024'
=>
unchanged
