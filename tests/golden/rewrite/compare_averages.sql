-- Where an average is asked for, groups are compared and not rows.

-- question: Which stadiums have concerts after 2014 on average?
-- schema: counted
-- operators: avg .8; having .9
SELECT s.name FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id WHERE s.name <> 'x' AND c.year > 2014
=>
SELECT s.name FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id WHERE s.name <> 'x' GROUP BY s.name HAVING AVG(c.year) > 2014

-- question: Which names have a capacity above 100 on average?
-- schema: counted
-- operators: avg .8
SELECT DISTINCT name FROM stadium WHERE capacity > 100
=>
SELECT name FROM stadium GROUP BY name HAVING AVG(capacity) > 100

-- no average is asked for
-- schema: counted
-- operators: avg .3
SELECT name FROM stadium WHERE capacity > 100
=>
unchanged

-- it is there
-- schema: counted
-- operators: avg .9
SELECT AVG(capacity) FROM stadium WHERE capacity > 100
=>
unchanged

-- no number is compared
-- schema: counted
-- operators: avg .9
SELECT name FROM stadium WHERE name > 'x'
=>
unchanged
