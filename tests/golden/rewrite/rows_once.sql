-- DISTINCT for rows as they are, where running them showed that they repeat each other.

SELECT country FROM singer
=>
SELECT DISTINCT country FROM singer

SELECT s.artist_name, c.year FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id ORDER BY c.year DESC NULLS LAST
=>
SELECT DISTINCT s.artist_name, c.year FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id ORDER BY c.year DESC NULLS LAST

SELECT year AS season FROM concert WHERE stadium_id > 1 ORDER BY season
=>
SELECT DISTINCT year AS season FROM concert WHERE stadium_id > 1 ORDER BY season

-- in an order by what is not shown
SELECT country FROM singer ORDER BY artist_name
=>
unchanged

-- by a column of the same name that is not shown
SELECT s.name FROM stadium AS s JOIN stadium AS other ON s.stadium_id = other.stadium_id ORDER BY other.name
=>
unchanged

-- numbers, groups, and chosen rows
SELECT COUNT(country) FROM singer
=>
unchanged

SELECT country FROM singer GROUP BY country, artist_name
=>
unchanged

SELECT year FROM concert ORDER BY year LIMIT 3
=>
unchanged

SELECT ROW_NUMBER() OVER (ORDER BY year) FROM concert
=>
unchanged

SELECT country FROM singer UNION ALL SELECT title FROM concert
=>
unchanged
