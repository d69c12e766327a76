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

-- a name of each group may be what is asked for
SELECT MAX(title) FROM concert GROUP BY year
=>
unchanged

-- the greatest number of each group: of which?
-- schema: terse
-- question: What is the most that was paid, for all the different departments?
SELECT MAX(p.amt), MIN(p.amt) FROM pay AS p GROUP BY p.dpt_id
=>
SELECT p.dpt_id, MAX(p.amt), MIN(p.amt) FROM pay AS p GROUP BY p.dpt_id

-- a key is no number
-- schema: terse
SELECT MAX(pay_id) FROM pay GROUP BY dpt_id
=>
unchanged
