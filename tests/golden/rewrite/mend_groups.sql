-- A group is tested in HAVING; what is shown of it is grouped by or aggregated.

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

-- schema: trade
SELECT customer_id, SUM(total) * 100.0 / status AS share FROM orders GROUP BY customer_id
=>
SELECT customer_id, SUM(total) * 100.0 / SUM(status) AS share FROM orders GROUP BY customer_id

-- without groups, too
-- schema: trade
SELECT AVG(total) - (status + 1) FROM orders
=>
SELECT AVG(total) - (AVG(status) + 1) FROM orders

-- of columns alone
-- schema: trade
SELECT customer_id, (status * 100) / total AS share FROM orders GROUP BY customer_id
=>
SELECT customer_id, (SUM(status) * 100) / SUM(total) AS share FROM orders GROUP BY customer_id

-- of each row
-- schema: trade
SELECT status * 100 / total FROM orders
=>
unchanged

-- it is what is grouped by
-- schema: trade
SELECT SUM(total) / status FROM orders GROUP BY status
=>
unchanged

-- a number of its own
-- schema: trade
SELECT state, SUM(total) FROM orders GROUP BY order_id
=>
unchanged

-- how many it is divided by is not told
-- schema: trade
SELECT COUNT(*) / total FROM orders
=>
unchanged

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
