-- Rows without a value are not the highest.

-- question: Which stadium is the largest?
SELECT name FROM stadium ORDER BY capacity DESC LIMIT 1
=>
SELECT name FROM stadium ORDER BY capacity DESC NULLS LAST LIMIT 1

-- a group's sum may be of nothing
SELECT year, SUM(stadium_id) AS total FROM concert GROUP BY year ORDER BY total DESC, year DESC LIMIT 3
=>
SELECT year, SUM(stadium_id) AS total FROM concert GROUP BY year ORDER BY total DESC NULLS LAST, year DESC NULLS LAST LIMIT 3

-- the first of each
SELECT name, RANK() OVER (ORDER BY capacity DESC) FROM stadium
=>
SELECT name, RANK() OVER (ORDER BY capacity DESC NULLS LAST) FROM stadium

-- all rows are shown
SELECT name FROM stadium ORDER BY capacity DESC
=>
unchanged

-- the lowest come first, and NULL last
SELECT name FROM stadium ORDER BY capacity LIMIT 1
=>
unchanged

-- a key is never NULL, nor is a count
SELECT name FROM stadium ORDER BY stadium_id DESC LIMIT 1
=>
unchanged

SELECT year FROM concert GROUP BY year ORDER BY COUNT(*) DESC LIMIT 1
=>
unchanged
