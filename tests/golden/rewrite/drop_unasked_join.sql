-- A table of which nothing is used and that the question does not name is left out, one of its rows to each at most.

-- question: Which titles are of 2014?
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE c.year = '2014'
=>
SELECT c.title FROM concert AS c WHERE c.year = '2014'

-- question: Concerts that have a venue
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id
=>
SELECT c.title FROM concert AS c

-- the question names it
-- question: Which concerts of 2014 were in a stadium?
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE c.year = '2014'
=>
unchanged

-- each row is repeated by it
-- question: Names of venues
SELECT s.name FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id
=>
unchanged

-- in each query of a set operation
-- question: Which titles are of 2014 and of 2015?
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE c.year = '2014' INTERSECT SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE c.year = '2015'
=>
SELECT c.title FROM concert AS c WHERE c.year = '2014' INTERSECT SELECT c.title FROM concert AS c WHERE c.year = '2015'

-- many rows to each, and the linker is sure
-- question: How many seats are there by name?
-- linked: concert.* .1; stadium.* .9
SELECT s.name, SUM(s.stadium_id) FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id GROUP BY s.name
=>
SELECT s.name, SUM(s.stadium_id) FROM stadium AS s GROUP BY s.name

-- many rows to each, and the linker is not
-- question: How many seats are there by name?
-- linked: concert.* .4; stadium.* .9
SELECT s.name, SUM(s.stadium_id) FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id GROUP BY s.name
=>
unchanged

-- many rows to each, and they are what is counted
-- question: Which names come up most often?
-- linked: concert.* .1; stadium.* .9
SELECT s.name FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id GROUP BY s.name ORDER BY COUNT(*) DESC LIMIT 1
=>
unchanged
