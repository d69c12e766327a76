-- Values of a whole table are shown once each.

-- question: all countries of singers
SELECT country FROM singer
=>
SELECT DISTINCT country FROM singer

-- a key
SELECT singer_id FROM singer
=>
unchanged

-- the rows are tested
SELECT country FROM singer WHERE artist_name = 'a'
=>
unchanged

-- in an order
SELECT country FROM singer ORDER BY country
=>
unchanged

-- several columns
SELECT country, artist_name FROM singer
=>
unchanged

-- counted
SELECT COUNT(country) FROM singer
=>
unchanged

SELECT DISTINCT country FROM singer
=>
unchanged
