-- An inner join on columns that do not refer to each other follows the foreign keys instead.

SELECT s.name FROM concert c JOIN stadium s ON c.concert_id = s.stadium_id
=>
SELECT s.name FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id

-- over a table in between
SELECT s.artist_name FROM concert c JOIN singer s ON c.concert_id = s.singer_id
=>
SELECT singer.artist_name FROM concert AS c JOIN singer_in_concert ON c.concert_id = singer_in_concert.concert_id JOIN singer ON singer_in_concert.singer_id = singer.singer_id

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

-- another join needs the table that would have to go
SELECT s.artist_name FROM concert c JOIN singer s ON c.concert_id = s.singer_id JOIN singer_in_concert e ON e.singer_id = s.singer_id
=>
unchanged

-- the table is there once more
SELECT s.artist_name FROM concert c JOIN singer s ON c.concert_id = s.singer_id JOIN singer t ON c.title = t.artist_name
=>
unchanged
