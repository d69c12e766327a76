-- A month of which the question says no year.

-- schema: terse
-- question: payments in October
SELECT pay_id FROM pay WHERE pd_on >= '2020-10-01' AND pd_on < '2020-11-01' AND amt > 3
=>
SELECT pay_id FROM pay WHERE amt > 3 AND EXTRACT(MONTH FROM pd_on) = 10

-- year and month are numbers of their own
-- schema: terse
-- question: payments in October
SELECT pay_id FROM pay WHERE EXTRACT(YEAR FROM pd_on) = 2020 AND EXTRACT(MONTH FROM pd_on) = 10
=>
SELECT pay_id FROM pay WHERE EXTRACT(MONTH FROM pd_on) = 10

-- it says which one
-- schema: terse
-- question: payments in October 2020
SELECT pay_id FROM pay WHERE pd_on >= '2020-10-01' AND pd_on < '2020-11-01'
=>
unchanged

-- schema: terse
-- question: payments of last October
SELECT pay_id FROM pay WHERE pd_on >= '2020-10-01' AND pd_on < '2020-11-01'
=>
unchanged

-- since then is no month
-- schema: terse
-- question: payments since October
SELECT pay_id FROM pay WHERE pd_on >= '2020-10-01' AND pd_on < '2020-11-01'
=>
unchanged
