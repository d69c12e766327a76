-- What an array is compared with is a member of it.

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
