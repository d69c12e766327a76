-- Rows are put in the direction that the question says, and in ascending order where it says none.

-- question: stadiums and their capacities, ordered by capacity
SELECT name, capacity FROM stadium ORDER BY capacity DESC
=>
SELECT name, capacity FROM stadium ORDER BY capacity

-- question: List the countries and their numbers of singers in descending order of the number.
SELECT country, COUNT(*) FROM singer GROUP BY country ORDER BY COUNT(*)
=>
SELECT country, COUNT(*) FROM singer GROUP BY country ORDER BY COUNT(*) DESC

-- in other words
-- question: stadiums, largest first
SELECT name FROM stadium ORDER BY capacity
=>
SELECT name FROM stadium ORDER BY capacity DESC

-- question: stadiums sorted by capacity
SELECT name FROM stadium ORDER BY capacity
=>
unchanged

-- question: stadiums sorted by capacity from large to small
SELECT name FROM stadium ORDER BY capacity DESC
=>
unchanged

-- no order is asked for
-- question: How large is each stadium?
SELECT name, capacity FROM stadium ORDER BY capacity DESC
=>
unchanged

-- some of the rows
-- question: the first three stadiums ordered by capacity
SELECT name FROM stadium ORDER BY capacity DESC LIMIT 3
=>
unchanged

-- several keys
-- question: singers ordered by country and age
SELECT artist_name FROM singer ORDER BY country, age DESC
=>
unchanged
