-- A number for each group says nothing without what the group is.

-- question: How many concerts are there by year?
SELECT COUNT(*) FROM concert GROUP BY year
=>
SELECT year, COUNT(*) FROM concert GROUP BY year

-- an expression
-- question: Number of concerts a year, however written
SELECT COUNT(*) AS concerts FROM concert WHERE stadium_id = 1 GROUP BY UPPER(year) ORDER BY concerts
=>
SELECT UPPER(year), COUNT(*) AS concerts FROM concert WHERE stadium_id = 1 GROUP BY UPPER(year) ORDER BY concerts

-- one group is asked for
SELECT COUNT(*) FROM concert GROUP BY year ORDER BY COUNT(*) DESC LIMIT 1
=>
unchanged

-- groups are asked about
SELECT COUNT(*) FROM concert GROUP BY stadium_id HAVING COUNT(*) > 1
=>
unchanged

-- something is shown beside the number
SELECT title, COUNT(*) FROM concert GROUP BY title
=>
unchanged

-- made of numbers
-- question: average length per year, in minutes
SELECT SUM(stadium_id) / (COUNT(*) * 60000) AS minutes FROM concert GROUP BY year
=>
SELECT year, SUM(stadium_id) / (COUNT(*) * 60000) AS minutes FROM concert GROUP BY year

-- the greatest of each group may be what is asked for
SELECT MAX(title) FROM concert GROUP BY year
=>
unchanged
