-- Where each group that is counted is one row, the rows of the table that refers to it are counted.

SELECT name, COUNT(*) FROM stadium GROUP BY stadium_id
=>
SELECT stadium.name, COUNT(*) FROM stadium JOIN concert ON stadium.stadium_id = concert.stadium_id GROUP BY stadium.stadium_id

SELECT name FROM stadium GROUP BY stadium_id HAVING COUNT(*) > 1
=>
SELECT stadium.name FROM stadium JOIN concert ON stadium.stadium_id = concert.stadium_id GROUP BY stadium.stadium_id HAVING COUNT(*) > 1

-- near: concert 0.4; singer_in_concert 0.6
SELECT COUNT(*) FROM concert c JOIN stadium s ON c.stadium_id = s.stadium_id GROUP BY c.concert_id
=>
SELECT COUNT(*) FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id JOIN singer_in_concert ON c.concert_id = singer_in_concert.concert_id GROUP BY c.concert_id

-- of several tables that refer to it, the nearest
-- schema: tour
-- near: tour 1.0
SELECT name, COUNT(*) FROM stadium GROUP BY stadium_id
=>
SELECT stadium.name, COUNT(*) FROM stadium JOIN tour ON stadium.stadium_id = tour.stadium_id GROUP BY stadium.stadium_id

-- nothing is counted
SELECT name FROM stadium GROUP BY stadium_id
=>
unchanged

-- several rows in a group
SELECT country, COUNT(*) FROM singer GROUP BY country
=>
unchanged

SELECT s.name, COUNT(*) FROM stadium s JOIN concert c ON s.stadium_id = c.stadium_id GROUP BY s.stadium_id
=>
unchanged

-- an outer join counts none as well
SELECT COUNT(c.title) FROM stadium s LEFT JOIN concert c ON s.stadium_id = c.stadium_id GROUP BY s.stadium_id
=>
unchanged

SELECT x.title, COUNT(*) FROM (SELECT title FROM concert) AS x GROUP BY x.title
=>
unchanged

SELECT COUNT(*) FROM stadium
=>
unchanged
