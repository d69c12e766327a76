-- Groups by each member of an array.

-- schema: several
SELECT tags, COUNT(*) FROM article GROUP BY tags ORDER BY COUNT(*) DESC
=>
SELECT UNNEST(tags) AS member, COUNT(*) FROM article GROUP BY UNNEST(tags) ORDER BY COUNT(*) DESC

-- schema: several
SELECT title, COUNT(*) FROM article GROUP BY title
=>
unchanged
