-- What a range or an array is compared with is a part of it.

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

-- schema: several
SELECT title FROM article WHERE tags = 'red' OR tags LIKE '%blue%'
=>
SELECT title FROM article WHERE 'red' = ANY(tags) OR 'blue' = ANY(tags)

-- schema: several
SELECT title FROM article AS a WHERE a.tags IN ('red', 'blue')
=>
SELECT title FROM article AS a WHERE a.tags && ARRAY['red', 'blue']

-- schema: several
SELECT title FROM article WHERE tags <> 'red'
=>
SELECT title FROM article WHERE NOT 'red' = ANY(tags)

-- schema: several
SELECT title FROM article WHERE title = 'red'
=>
unchanged
