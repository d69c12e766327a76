-- DISTINCT where a row is shown once for each of many others of which nothing is shown.

-- question: Names of stadiums that had a concert
SELECT s.name FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id ORDER BY s.name
=>
SELECT DISTINCT s.name FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id ORDER BY s.name

-- the many are tested
-- question: Countries of singers in 2014
SELECT s.country FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2014'
=>
SELECT DISTINCT s.country FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2014'

-- question: For every performance, the artist's name
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id
=>
SELECT DISTINCT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id

-- question: A stadium that had a concert
SELECT s.name FROM stadium s JOIN concert c ON s.stadium_id = c.stadium_id LIMIT 1
=>
unchanged

-- the many are shown
-- question: Each concert's stadium
SELECT c.title, s.name FROM stadium s JOIN concert c ON s.stadium_id = c.stadium_id
=>
unchanged
