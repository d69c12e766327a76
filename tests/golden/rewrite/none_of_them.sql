-- A negation beside one row of many is read as: none of them.

-- question: Which singers did not sing in 2014?
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year <> '2014' AND s.country = 'Kenya'
=>
SELECT s.artist_name FROM singer AS s WHERE s.country = 'Kenya' AND NOT s.singer_id IN (SELECT e.singer_id FROM singer_in_concert AS e JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2014')

-- question: How many singers never sang in 2014 or 2015?
SELECT COUNT(DISTINCT s.singer_id) FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE NOT c.year IN ('2014', '2015')
=>
SELECT COUNT(DISTINCT s.singer_id) FROM singer AS s WHERE NOT s.singer_id IN (SELECT e.singer_id FROM singer_in_concert AS e JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year IN ('2014', '2015'))

-- with another value beside it the tables stay joined
-- question: Which singers sang in 2014 but not in 2015?
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2014' AND c.year <> '2015'
=>
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2014' AND NOT s.singer_id IN (SELECT e.singer_id FROM singer_in_concert AS e JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2015')

-- question: Stadiums without a concert called like x, by name
SELECT s.name FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE NOT c.title LIKE '%x%' ORDER BY s.name
=>
SELECT s.name FROM stadium AS s WHERE NOT s.stadium_id IN (SELECT c.stadium_id FROM concert AS c WHERE c.title LIKE '%x%') ORDER BY s.name

-- question: Which singers have at least one concert that was not in 2014?
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year <> '2014'
=>
SELECT s.artist_name FROM singer AS s WHERE NOT s.singer_id IN (SELECT e.singer_id FROM singer_in_concert AS e JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2014')

-- one table: a value that no denied row has
-- question: Which concerts were never in x?
SELECT title FROM concert WHERE year <> '2014' AND stadium_id = 3
=>
SELECT DISTINCT title FROM concert WHERE stadium_id = 3 AND NOT title IN (SELECT title FROM concert WHERE year = '2014')

-- one table, shown by its key
-- question: Which concerts were not in x?
SELECT concert_id FROM concert WHERE year <> '2014'
=>
unchanged

-- two parts deny one thing
-- question: Who did not sing in the concert x of 2014?
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year <> '2014' AND c.title <> 'x'
=>
SELECT s.artist_name FROM singer AS s WHERE NOT s.singer_id IN (SELECT e.singer_id FROM singer_in_concert AS e JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2014' AND c.title = 'x')

-- a query that is denied
-- question: Which singers are in no concert at a large stadium?
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE NOT c.stadium_id IN (SELECT stadium_id FROM stadium WHERE capacity > '9')
=>
SELECT s.artist_name FROM singer AS s WHERE NOT s.singer_id IN (SELECT e.singer_id FROM singer_in_concert AS e JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.stadium_id IN (SELECT stadium_id FROM stadium WHERE capacity > '9'))

-- a query that looks at the row around it
-- question: Which singers are in no concert at a large stadium?
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE NOT c.stadium_id IN (SELECT stadium_id FROM stadium WHERE name = c.title)
=>
unchanged

-- one row to each that is shown
-- question: Which concerts were not in a stadium for 3?
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE s.capacity <> '3'
=>
unchanged

-- no negation in the question
-- question: Which singers sang in a year but 2014?
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year <> '2014'
=>
unchanged

-- a column of the tested table is shown
-- question: Singers and titles, not of 2014
SELECT s.artist_name, c.title FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year <> '2014'
=>
unchanged

-- question: Singers who did not sing in 2014, with their concerts
SELECT s.artist_name, COUNT(*) FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year <> '2014' GROUP BY s.artist_name
=>
unchanged

-- the join compares a table with itself
-- question: Which singers did not sing in 2014?
SELECT s.artist_name FROM singer s JOIN concert c ON s.singer_id = s.singer_id WHERE c.year <> '2014'
=>
unchanged
