-- The most of something is the greatest number of it that is stored, where the question is about that.

-- question: Which two stadiums have the most seats?
-- schema: counted
-- linked: stadium.capacity .9
SELECT name FROM stadium GROUP BY name ORDER BY COUNT(*) DESC LIMIT 2
=>
SELECT name FROM stadium ORDER BY stadium.capacity DESC LIMIT 2

-- question: Which two stadiums have the most concerts?
-- schema: counted
-- linked: stadium.capacity .2
SELECT s.name FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id GROUP BY s.name ORDER BY COUNT(*) DESC LIMIT 2
=>
unchanged

-- the count is shown
-- schema: counted
-- linked: stadium.capacity .9
SELECT name, COUNT(*) FROM stadium GROUP BY name ORDER BY COUNT(*) DESC
=>
unchanged

-- no column of numbers
-- linked: stadium.capacity .9
SELECT name FROM stadium GROUP BY name ORDER BY COUNT(*) DESC LIMIT 2
=>
unchanged
