-- An aggregate cannot be tested in WHERE: it is of a group, which HAVING tests.

SELECT country FROM singer WHERE COUNT(*) > 2
=>
SELECT country FROM singer GROUP BY country HAVING COUNT(*) > 2

SELECT s.country, COUNT(*) FROM singer AS s WHERE s.artist_name <> 'X' AND COUNT(*) > 2 AND MAX(s.singer_id) > 7 GROUP BY s.country HAVING MIN(s.singer_id) > 1
=>
SELECT s.country, COUNT(*) FROM singer AS s WHERE s.artist_name <> 'X' GROUP BY s.country HAVING MIN(s.singer_id) > 1 AND COUNT(*) > 2 AND MAX(s.singer_id) > 7

-- in a query inside
SELECT artist_name FROM singer WHERE country IN (SELECT country FROM singer WHERE COUNT(*) > 2)
=>
SELECT artist_name FROM singer WHERE country IN (SELECT country FROM singer GROUP BY country HAVING COUNT(*) > 2)

-- of no group
SELECT COUNT(*) FROM singer WHERE COUNT(*) > 2
=>
unchanged

-- of the query inside
SELECT artist_name FROM singer WHERE singer_id = (SELECT MAX(singer_id) FROM singer)
=>
unchanged
