-- SUM where COUNT is shown of a column of numbers that is no key.

-- schema: terse
-- question: How much was paid?
SELECT COUNT(amt) FROM pay
=>
SELECT SUM(amt) FROM pay

-- schema: terse
SELECT d.dpt_nm, COUNT(p.amt) AS paid FROM pay AS p JOIN dpt AS d ON p.dpt_id = d.dpt_id GROUP BY d.dpt_nm
=>
SELECT d.dpt_nm, SUM(p.amt) AS paid FROM pay AS p JOIN dpt AS d ON p.dpt_id = d.dpt_id GROUP BY d.dpt_nm

-- a key, and what refers to one
-- schema: terse
SELECT COUNT(pay_id), COUNT(dpt_id) FROM pay
=>
unchanged

-- dates
-- schema: terse
SELECT COUNT(pd_on) FROM pay
=>
unchanged

-- texts
SELECT COUNT(country) FROM singer
=>
unchanged

-- how many different ones
-- schema: terse
SELECT COUNT(DISTINCT amt) FROM pay
=>
unchanged

-- not shown
-- schema: terse
SELECT dpt_id FROM pay GROUP BY dpt_id HAVING COUNT(amt) > 1
=>
unchanged
