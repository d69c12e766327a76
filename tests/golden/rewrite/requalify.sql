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

-- what a thing is called is no other thing's, where the question speaks of the thing
-- question: Who are the persons?
-- schema: called
SELECT person.name FROM person JOIN league ON person.league_id = league.league_id
=>
unchanged

-- named by the linker, with an alias
-- question: Who plays?
-- linked: person.* .9
-- schema: called
SELECT T1.name FROM person AS T1 JOIN league AS T2 ON T1.league_id = T2.league_id
=>
unchanged

-- nor of a table that FROM lacks
-- question: Show each person's name
-- schema: called
SELECT name FROM person
=>
unchanged

-- not even of one that the question speaks of as well
-- question: Show the name of each person of the league
-- schema: called
SELECT p.name FROM person AS p
=>
unchanged

-- of that alone it is the name
-- question: Show the names of the leagues
-- schema: called
SELECT p.name FROM person AS p
=>
SELECT league.name FROM person AS p

-- the table has columns that may be meant
SELECT singer.name FROM singer JOIN singer_in_concert AS e ON singer.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id JOIN stadium AS s ON c.stadium_id = s.stadium_id
=>
unchanged
