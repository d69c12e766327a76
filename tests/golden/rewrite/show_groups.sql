-- A number of each is of no use without what it is of.

-- question: number of capacities per name
SELECT COUNT(capacity) FROM stadium GROUP BY name
=>
SELECT name, COUNT(capacity) FROM stadium GROUP BY name

-- question: How many concerts were there in each year?
SELECT COUNT(*) FROM concert GROUP BY year
=>
SELECT year, COUNT(*) FROM concert GROUP BY year

-- schema: terse
-- question: average payment per year
SELECT AVG(amt) FROM pay GROUP BY EXTRACT(YEAR FROM pd_on)
=>
SELECT EXTRACT(YEAR FROM pd_on), AVG(amt) FROM pay GROUP BY EXTRACT(YEAR FROM pd_on)

-- it is shown
-- question: How many concerts were there in each year?
SELECT COUNT(*), year FROM concert GROUP BY year
=>
unchanged

-- one that stands for its group is shown
-- question: How many concerts were there in each year?
SELECT MIN(title), COUNT(*) FROM concert GROUP BY year
=>
unchanged

-- of one group
-- question: What is the number of concerts of the best year?
SELECT COUNT(*) FROM concert GROUP BY year ORDER BY COUNT(*) DESC LIMIT 1
=>
unchanged
