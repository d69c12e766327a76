-- A column goes to the one table that has it. A table that FROM lacks then is for join_missing_tables to join.

-- another table of FROM has it
SELECT T1.title FROM stadium AS T1 JOIN concert AS T2 ON T1.stadium_id = T2.stadium_id
=>
SELECT t2.title FROM stadium AS t1 JOIN concert AS t2 ON t1.stadium_id = t2.stadium_id

-- a table that one of FROM refers to has it
SELECT c.title FROM concert AS c WHERE c.capacity = '3'
=>
SELECT c.title FROM concert AS c WHERE stadium.capacity = '3'

-- bare, and one table of the schema has it: what stands bare beside it is qualified too
SELECT title FROM concert ORDER BY capacity LIMIT 1
=>
SELECT concert.title FROM concert ORDER BY stadium.capacity LIMIT 1

-- a query of WITH hides the table of its name
WITH singer AS (SELECT title AS entry_id FROM concert) SELECT singer.entry_id FROM singer
=>
unchanged

-- what a query gives is not known
SELECT x.title FROM (SELECT title FROM concert) AS x
=>
unchanged

-- it is what it says
SELECT s.name FROM concert c JOIN stadium s ON c.stadium_id = s.stadium_id
=>
unchanged

-- two tables of FROM have it
SELECT t3.stadium_id FROM stadium AS t1 JOIN concert AS t2 ON t1.stadium_id = t2.stadium_id JOIN singer AS t3 ON t3.artist_name = t2.title
=>
unchanged

-- the table has columns that may be meant
SELECT singer.name FROM singer JOIN singer_in_concert AS e ON singer.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id JOIN stadium AS s ON c.stadium_id = s.stadium_id
=>
unchanged
