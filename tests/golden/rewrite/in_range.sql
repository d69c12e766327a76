-- What a range is compared with lies in it.

-- schema: several
SELECT name FROM person WHERE employed = '2026-03-03'
=>
SELECT name FROM person WHERE employed @> CAST('2026-03-03' AS DATE)

-- schema: several
SELECT name FROM person AS p WHERE p.employed BETWEEN '2026-03-01' AND '2026-03-31'
=>
SELECT name FROM person AS p WHERE p.employed && DATERANGE('2026-03-01', '2026-03-31', '[]')

-- it is compared with a range
-- schema: several
SELECT a.name FROM person AS a JOIN person AS b ON a.employed = b.employed
=>
unchanged
