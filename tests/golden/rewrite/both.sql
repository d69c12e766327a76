-- Two values of one column as the rows of the one that are rows of the other too.

-- question: Which singers sang in both 2014 and 2015?
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year IN ('2014', '2015')
=>
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2014' INTERSECT SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2015'

-- "and" of a column of which each row that is shown has many
-- question: Which singers from Kenya sang in 2014 and 2015?
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE s.country = 'Kenya' AND (c.year = '2014' OR c.year = '2015')
=>
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE s.country = 'Kenya' AND c.year = '2014' INTERSECT SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE s.country = 'Kenya' AND c.year = '2015'

-- no row has two values of one column
-- question: Titles of concerts of 2014 that are of 2015
SELECT title FROM concert WHERE year = '2014' AND year = '2015'
=>
SELECT title FROM concert WHERE year = '2014' INTERSECT SELECT title FROM concert WHERE year = '2015'

-- question: Name and country of singers who sang between 2014 and 2015
SELECT s.artist_name, s.country FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year IN ('2014', '2015')
=>
SELECT s.artist_name, s.country FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2014' INTERSECT SELECT s.artist_name, s.country FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2015'

-- question: Which singers sang in 2014 or in 2015?
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year IN ('2014', '2015')
=>
unchanged

-- each row that is shown has one
-- question: Titles of 2014 and 2015
SELECT title FROM concert WHERE year IN ('2014', '2015')
=>
unchanged

-- question: How many sang in both 2014 and 2015?
SELECT COUNT(*) FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year IN ('2014', '2015')
=>
unchanged

-- question: Which singers sang in both 2014 and 2015, by name?
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year IN ('2014', '2015') ORDER BY s.artist_name
=>
unchanged
