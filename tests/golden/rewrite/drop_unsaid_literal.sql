-- A literal that the question does not say was made up.

-- question: Which concerts are there in each stadium?
SELECT title FROM concert WHERE year = '2023' GROUP BY title
=>
SELECT title FROM concert GROUP BY title

-- question: Which concerts of 2014 have a stadium?
SELECT title FROM concert WHERE stadium_id = 1 AND year = '2014'
=>
SELECT title FROM concert WHERE year = '2014'

-- a stored value that the question names otherwise
-- question: Which singers are Kenyan?
-- values: singer.country = Kenya
SELECT artist_name FROM singer WHERE country = 'Kenya'
=>
unchanged

-- a number that is no key may be a word of the question
-- question: Which stadiums hold more than one?
SELECT name FROM stadium WHERE capacity > 1
=>
unchanged

-- by what the column's description says that it stands for
-- question: What did the warehouse pay?
-- schema: codes
SELECT SUM(amt) FROM pay WHERE dpt_cd = 'W'
=>
unchanged

-- question: What did all of them pay?
-- schema: codes
SELECT SUM(amt) FROM pay WHERE dpt_cd = 'W'
=>
SELECT SUM(amt) FROM pay
