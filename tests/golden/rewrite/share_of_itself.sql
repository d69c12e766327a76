-- The rows that are tested for a text are a part of all, where a number is divided by itself.

-- schema: codes
SELECT SUM(amt) * 100.0 / SUM(amt) FROM pay WHERE payee = 'x'
=>
SELECT SUM(amt) FILTER(WHERE payee = 'x') * 100.0 / SUM(amt) FROM pay

-- the others are tests of the whole
-- schema: codes
SELECT payee, COUNT(*) / CAST(COUNT(*) AS REAL) FROM pay WHERE dpt_cd IN (SELECT dpt_cd FROM dpt) AND amt > 1 GROUP BY payee
=>
SELECT payee, COUNT(*) FILTER(WHERE dpt_cd IN (SELECT dpt_cd FROM dpt)) / CAST(COUNT(*) AS REAL) FROM pay WHERE amt > 1 GROUP BY payee

-- of which part?
-- schema: codes
SELECT SUM(amt) / SUM(amt) FROM pay WHERE amt > 1
=>
unchanged

-- two numbers
-- schema: codes
SELECT SUM(amt) / COUNT(*) FROM pay WHERE payee = 'Ann'
=>
unchanged

-- nothing is divided
-- schema: codes
SELECT SUM(amt) FROM pay WHERE payee = 'Ann'
=>
unchanged
