-- Rows are counted that stand several times for what is asked for: each of these once.

-- question: How many stadiums had concerts in 2014?
SELECT COUNT(*) FROM concert WHERE year = '2014'
=>
SELECT COUNT(DISTINCT concert.stadium_id) FROM concert WHERE year = '2014'

-- a column of them, and an alias
-- question: What is the number of different singers that played in 2014?
SELECT COUNT(T2.singer_id) AS n FROM concert AS T1 JOIN singer_in_concert AS T2 ON T1.concert_id = T2.concert_id WHERE T1.year = '2014'
=>
SELECT COUNT(DISTINCT t2.singer_id) AS n FROM concert AS t1 JOIN singer_in_concert AS t2 ON t1.concert_id = t2.concert_id WHERE t1.year = '2014'

-- what is counted is what is asked for
-- question: How many concerts were in stadiums?
SELECT COUNT(*) FROM concert
=>
unchanged

-- its table is read
-- question: How many stadiums had concerts?
SELECT COUNT(*) FROM stadium JOIN concert ON stadium.stadium_id = concert.stadium_id
=>
unchanged

-- groups
-- question: How many stadiums had concerts in each year?
SELECT year, COUNT(*) FROM concert GROUP BY year
=>
unchanged

-- each once already
-- question: How many stadiums had concerts?
SELECT COUNT(DISTINCT stadium_id) FROM concert
=>
unchanged

-- no number is asked for
-- question: Which stadiums had concerts?
SELECT COUNT(*) FROM concert
=>
unchanged

-- two references lead there
-- question: How many airports have flights?
-- schema: flights
SELECT COUNT(*) FROM flight
=>
unchanged
