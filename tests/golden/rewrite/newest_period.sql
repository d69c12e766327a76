-- A period of which the data holds nothing is that of the newest year.

-- schema: terse
-- newest: pay.pd_on = 2019-12-31
SELECT SUM(amt) FROM pay WHERE pd_on >= '2026-07-01' AND pd_on < '2026-10-01' AND amt > 3
=>
SELECT SUM(amt) FROM pay WHERE amt > 3 AND pd_on >= '2019-07-01' AND pd_on < '2019-10-01'

-- later in the year than the newest row
-- schema: terse
-- newest: pay.pd_on = 2019-06-15
SELECT SUM(amt) FROM pay WHERE pd_on BETWEEN '2026-07-01' AND '2026-09-30'
=>
SELECT SUM(amt) FROM pay WHERE pd_on >= '2018-07-01' AND pd_on < '2018-10-01'

-- by the clock, of a timestamp
-- schema: terse
-- newest: pay.bkd_at = 2020-10-01
SELECT COUNT(*) FROM pay WHERE bkd_at >= DATE_TRUNC('month', CURRENT_DATE)
=>
SELECT COUNT(*) FROM pay WHERE bkd_at >= '2020-01-01'

-- by year
-- schema: terse
-- newest: pay.pd_on = 2019-06-15
SELECT COUNT(*) FROM pay WHERE EXTRACT(YEAR FROM pd_on) = 2026
=>
SELECT COUNT(*) FROM pay WHERE pd_on >= '2019-01-01' AND pd_on < '2020-01-01'

-- the newest rows are of that year
-- schema: terse
-- newest: pay.pd_on = 2026-07-31
SELECT SUM(amt) FROM pay WHERE pd_on >= '2026-07-05' AND pd_on < '2026-07-06'
=>
unchanged

-- nothing was looked for
-- schema: terse
SELECT SUM(amt) FROM pay WHERE pd_on >= '2026-07-01'
=>
unchanged

-- what was before has no newest year
-- schema: terse
-- newest: pay.pd_on = 2019-06-15
SELECT SUM(amt) FROM pay WHERE pd_on < '2010-07-01'
=>
unchanged

-- days before the newest ones may be meant
-- schema: terse
-- newest: pay.pd_on = 2019-06-15
SELECT SUM(amt) FROM pay WHERE pd_on >= '2010-07-01' AND pd_on < '2010-10-01'
=>
unchanged
