-- DISTINCT where a row is shown once for each of many others that a test finds.

-- question: Names of singers in 2014
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2014'
=>
SELECT DISTINCT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2014'

-- question: Stadiums that had a concert in 2014 or 2015
SELECT s.name FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id WHERE c.year IN ('2014', '2015')
=>
SELECT DISTINCT s.name FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id WHERE c.year IN ('2014', '2015')

-- the many are not tested: another rule's
-- question: Names of stadiums that had a concert
SELECT s.name FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id
=>
unchanged

-- the many are shown
-- question: Concerts in 2014 and their stadiums
SELECT s.name, c.title FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id WHERE c.year = '2014'
=>
unchanged

-- one of each
-- question: Concerts in large stadiums
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE s.capacity > 1000
=>
unchanged

-- numbers of rows
-- question: How many singers were there in 2014?
SELECT COUNT(*) FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2014'
=>
unchanged
