-- A join on a column that its table has not follows the foreign keys instead.

SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.concert_id
=>
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id

-- over a table that is not there, and one that is joined too late
SELECT T1.name, T2.title FROM singer AS T3 JOIN stadium AS T1 ON T3.stadium_id = T1.stadium_id JOIN concert AS T2 ON T1.stadium_id = T2.stadium_id
=>
SELECT t1.name, t2.title FROM singer AS t3 JOIN singer_in_concert ON t3.singer_id = singer_in_concert.singer_id JOIN concert AS t2 ON singer_in_concert.concert_id = t2.concert_id JOIN stadium AS t1 ON t2.stadium_id = t1.stadium_id

-- not over two tables that the question does not speak of
SELECT T1.name, T3.country FROM stadium AS T1 JOIN singer AS T3 ON T1.stadium_id = T3.stadium_id
=>
unchanged

-- the question speaks of one of them
-- question: stadiums and singers of their concerts
SELECT T1.name, T3.country FROM stadium AS T1 JOIN singer AS T3 ON T1.stadium_id = T3.stadium_id
=>
SELECT t1.name, t3.country FROM stadium AS t1 JOIN concert ON t1.stadium_id = concert.stadium_id JOIN singer_in_concert ON concert.concert_id = singer_in_concert.concert_id JOIN singer AS t3 ON singer_in_concert.singer_id = t3.singer_id

SELECT T1.name, COUNT(*) FROM stadium AS T1 JOIN singer_in_concert AS T2 ON T1.stadium_id = T2.stadium_id GROUP BY T1.stadium_id
=>
SELECT t1.name, COUNT(*) FROM stadium AS t1 GROUP BY t1.stadium_id

-- both columns are there: not for a repair
SELECT s.name FROM concert c JOIN stadium s ON c.concert_id = s.stadium_id
=>
unchanged

-- no reference leads there: over the column that one table of each side has
-- schema: islands
SELECT T1.name FROM vendor AS T1 JOIN sale AS T2 ON T1.vendor_id = T2.vendor_id WHERE T2.price = '3'
=>
SELECT t1.name FROM vendor AS t1 JOIN model_line ON t1.vendor_id = model_line.vendor_id JOIN sale AS t2 ON model_line.model = t2.model WHERE t2.price = '3'
