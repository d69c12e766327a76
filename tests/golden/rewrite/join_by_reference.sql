-- An inner join on columns that do not refer to each other follows the foreign keys instead.

SELECT s.name FROM concert c JOIN stadium s ON c.concert_id = s.stadium_id
=>
SELECT s.name FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id

-- over a table in between
SELECT s.artist_name FROM concert c JOIN singer s ON c.concert_id = s.singer_id
=>
SELECT s.artist_name FROM concert AS c JOIN singer_in_concert ON c.concert_id = singer_in_concert.concert_id JOIN singer AS s ON singer_in_concert.singer_id = s.singer_id

SELECT T2.title FROM stadium AS T1 JOIN concert AS T2 ON T1.stadium_id = T2.concert_id
=>
SELECT t2.title FROM stadium AS t1 JOIN concert AS t2 ON t1.stadium_id = t2.stadium_id

SELECT s.name FROM concert c JOIN stadium s ON c.stadium_id = s.stadium_id
=>
unchanged

-- an outer join says what it keeps
SELECT c.title FROM concert c LEFT JOIN stadium s ON c.concert_id = s.stadium_id
=>
unchanged

-- a table with itself
SELECT a.country FROM singer a JOIN singer b ON a.country = b.artist_name
=>
unchanged

-- over a table that is joined too late
SELECT s.artist_name FROM concert c JOIN singer s ON c.concert_id = s.singer_id JOIN singer_in_concert e ON e.singer_id = s.singer_id
=>
SELECT s.artist_name FROM concert AS c JOIN singer_in_concert AS e ON c.concert_id = e.concert_id JOIN singer AS s ON e.singer_id = s.singer_id

-- both refer to the same
SELECT e.singer_id FROM concert c JOIN singer_in_concert e ON c.concert_id = e.concert_id JOIN stadium s ON c.stadium_id = s.stadium_id
=>
unchanged

-- another join is more than an equality
SELECT s.artist_name FROM concert c JOIN singer s ON c.concert_id = s.singer_id JOIN singer_in_concert e ON e.singer_id > s.singer_id
=>
unchanged

-- names without a table are those of the tables that were there
SELECT title FROM concert c JOIN singer s ON c.concert_id = s.singer_id WHERE artist_name <> 'x'
=>
SELECT c.title FROM concert AS c JOIN singer_in_concert ON c.concert_id = singer_in_concert.concert_id JOIN singer AS s ON singer_in_concert.singer_id = s.singer_id WHERE s.artist_name <> 'x'

-- the table is there once more
SELECT s.artist_name FROM concert c JOIN singer s ON c.concert_id = s.singer_id JOIN singer t ON c.title = t.artist_name
=>
unchanged

-- nothing needs it
SELECT c.title FROM concert c JOIN singer s ON c.concert_id = s.singer_id WHERE c.title <> 'x'
=>
SELECT c.title FROM concert AS c WHERE c.title <> 'x'

-- a column that two tables have is no reference: what runs is left alone
-- schema: islands
SELECT T1.name FROM vendor AS T1 JOIN sale AS T2 ON T1.vendor_id = T2.sale_id
=>
unchanged
