-- NULL behind the others where the greatest come first.

SELECT name FROM stadium ORDER BY capacity DESC LIMIT 1
=>
SELECT name FROM stadium ORDER BY capacity DESC NULLS LAST LIMIT 1

SELECT name, capacity FROM stadium ORDER BY name, capacity DESC
=>
SELECT name, capacity FROM stadium ORDER BY name, capacity DESC NULLS LAST

SELECT name FROM stadium ORDER BY capacity LIMIT 1
=>
unchanged

-- written, and meant
-- question: The unknown ones at the top
SELECT name FROM stadium ORDER BY capacity DESC NULLS FIRST
=>
unchanged

-- never NULL
SELECT name FROM stadium ORDER BY stadium_id DESC LIMIT 1
=>
unchanged

SELECT country FROM singer GROUP BY country ORDER BY COUNT(*) DESC LIMIT 1
=>
unchanged
