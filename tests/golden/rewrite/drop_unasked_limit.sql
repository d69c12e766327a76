-- Rows that the question does not choose among are all shown.

-- question: singers in alphabetical order
SELECT artist_name FROM singer ORDER BY artist_name LIMIT 1
=>
SELECT artist_name FROM singer ORDER BY artist_name

-- the words of an order for all
-- question: stadiums, largest first
SELECT name FROM stadium ORDER BY capacity DESC LIMIT 1
=>
SELECT name FROM stadium ORDER BY capacity DESC

-- one is asked for
-- question: Which stadium is the largest?
SELECT name FROM stadium ORDER BY capacity DESC LIMIT 1
=>
unchanged

-- a number is
-- question: 3 stadiums sorted by capacity
SELECT name FROM stadium ORDER BY capacity DESC LIMIT 3
=>
unchanged

-- question: stadiums sorted by capacity
SELECT name FROM stadium ORDER BY capacity
=>
unchanged
