-- A calculation for a group is of what is grouped by, and of aggregates.

SELECT name, SUM(capacity) * 100.0 / stadium_id AS share FROM stadium GROUP BY name
=>
SELECT name, SUM(capacity) * 100.0 / SUM(stadium_id) AS share FROM stadium GROUP BY name

-- without groups, too
SELECT AVG(capacity) - (stadium_id + 1) FROM stadium
=>
SELECT AVG(capacity) - (AVG(stadium_id) + 1) FROM stadium

-- of columns alone
SELECT name, (stadium_id * 100) / capacity AS share FROM stadium GROUP BY name
=>
SELECT name, (SUM(stadium_id) * 100) / SUM(capacity) AS share FROM stadium GROUP BY name

-- of each row
SELECT stadium_id * 100 / capacity FROM stadium
=>
unchanged

-- it is what is grouped by
SELECT SUM(stadium_id) / capacity FROM stadium GROUP BY capacity
=>
unchanged

-- a number of its own
SELECT name, SUM(capacity) FROM stadium GROUP BY stadium_id
=>
unchanged

-- how many it is divided by is not told
SELECT COUNT(*) / capacity FROM stadium
=>
unchanged
