-- The part is taken within each group, where the tests leave rows out of the part and the whole is of all groups.

-- schema: terse
SELECT p.dpt_id, COUNT(*) * 100.0 / (SELECT COUNT(*) FROM pay) FROM pay AS p WHERE p.amt > 1 GROUP BY p.dpt_id
=>
SELECT p.dpt_id, COUNT(*) FILTER(WHERE p.amt > 1) * 100.0 / COUNT(*) FROM pay AS p GROUP BY p.dpt_id

-- schema: codes
SELECT dpt_cd, CAST(SUM(amt) AS DOUBLE PRECISION) / (SELECT SUM(p.amt) FROM pay AS p) AS share FROM pay WHERE payee <> 'Ann' GROUP BY dpt_cd
=>
SELECT dpt_cd, CAST(SUM(amt) FILTER(WHERE payee <> 'Ann') AS DOUBLE PRECISION) / SUM(amt) AS share FROM pay GROUP BY dpt_cd

-- nothing is left out
-- schema: terse
SELECT dpt_id, COUNT(*) * 100.0 / (SELECT COUNT(*) FROM pay) FROM pay GROUP BY dpt_id
=>
unchanged

-- one number
-- schema: terse
SELECT COUNT(*) * 100.0 / (SELECT COUNT(*) FROM pay) FROM pay WHERE amt > 1
=>
unchanged

-- another number
-- schema: terse
SELECT dpt_id, SUM(amt) / (SELECT COUNT(*) FROM pay) FROM pay WHERE amt > 1 GROUP BY dpt_id
=>
unchanged

-- the whole has tests of its own
-- schema: terse
SELECT dpt_id, COUNT(*) * 100.0 / (SELECT COUNT(*) FROM pay WHERE amt > 0) FROM pay WHERE amt > 1 GROUP BY dpt_id
=>
unchanged
