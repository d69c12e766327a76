-- Columns that are shown or sorted by are grouped by, but for those that depend on a key that is.

-- sorted by an aggregate alone: each row stands for a group
SELECT country FROM singer ORDER BY COUNT(*) DESC LIMIT 1
=>
SELECT country FROM singer GROUP BY country ORDER BY COUNT(*) DESC LIMIT 1

SELECT artist_name, country, COUNT(*) FROM singer GROUP BY country
=>
SELECT artist_name, country, COUNT(*) FROM singer GROUP BY country, artist_name

SELECT country FROM singer GROUP BY country ORDER BY artist_name
=>
SELECT country FROM singer GROUP BY country, artist_name ORDER BY artist_name

-- a view has no key to group by
-- schema: view
SELECT artist_name, COUNT(*) FROM singer GROUP BY singer_id
=>
SELECT artist_name, COUNT(*) FROM singer GROUP BY singer_id, artist_name

-- a table has
SELECT artist_name, COUNT(*) FROM singer GROUP BY singer_id
=>
unchanged

-- a key that was added makes the other columns of its table dependent on it
SELECT singer_id, artist_name, COUNT(*) FROM singer GROUP BY country
=>
SELECT singer_id, artist_name, COUNT(*) FROM singer GROUP BY country, singer_id

SELECT COUNT(*) FROM singer ORDER BY COUNT(*)
=>
unchanged

-- grouped by nothing: which groups are meant is not known
SELECT artist_name, COUNT(*) FROM singer
=>
unchanged

SELECT upper(country), COUNT(*) FROM singer GROUP BY upper(country)
=>
unchanged

SELECT country FROM singer GROUP BY country ORDER BY COUNT(*) DESC LIMIT 1
=>
unchanged

-- the alias of an output
SELECT country, COUNT(*) AS many FROM singer GROUP BY country ORDER BY many
=>
unchanged

SELECT artist_name, COUNT(*) FROM singer GROUP BY ROLLUP (country)
=>
unchanged
