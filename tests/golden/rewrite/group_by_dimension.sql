-- A question that asks a number for each of something is not answered by one number for all.

-- question: How many concerts are there per year?
SELECT COUNT(*) FROM concert
=>
SELECT concert.year, COUNT(*) FROM concert GROUP BY concert.year

-- of a table that is referred to, by what its rows are called
-- question: number of concerts by stadium
SELECT COUNT(*) AS n FROM concert AS c WHERE c.year = '2014'
=>
SELECT stadium.name, COUNT(*) AS n FROM concert AS c JOIN stadium ON c.stadium_id = stadium.stadium_id WHERE c.year = '2014' GROUP BY stadium.name

-- rows are counted
-- question: singers by country
SELECT * FROM singer
=>
SELECT singer.country, COUNT(*) FROM singer GROUP BY singer.country

-- by a name in short
-- schema: terse
-- question: average amount per department
SELECT AVG(amt) FROM pay
=>
SELECT dpt.dpt_nm, AVG(pay.amt) FROM pay JOIN dpt ON pay.dpt_id = dpt.dpt_id GROUP BY dpt.dpt_nm

-- a length of time of a date
-- schema: terse
-- question: monthly pay
SELECT SUM(amt) FROM pay
=>
SELECT DATE_TRUNC('MONTH', pay.pd_on), SUM(pay.amt) FROM pay GROUP BY DATE_TRUNC('MONTH', pay.pd_on)

-- of the date that the statement tests
-- schema: terse
-- question: yearly pay booked since 2020
SELECT SUM(amt) FROM pay WHERE bkd_at >= '2020-01-01'
=>
SELECT EXTRACT(YEAR FROM pay.bkd_at), SUM(pay.amt) FROM pay WHERE pay.bkd_at >= '2020-01-01' GROUP BY EXTRACT(YEAR FROM pay.bkd_at)

-- groups are there
-- question: How many concerts are there per year?
SELECT stadium_id, COUNT(*) FROM concert GROUP BY stadium_id
=>
unchanged

-- a list, not a number
-- question: the title of each concert
SELECT title FROM concert
=>
unchanged

-- who did it, not what for
-- question: How many concerts were given by singers?
SELECT COUNT(*) FROM concert
=>
unchanged

-- an order
-- question: top concerts by year
SELECT * FROM concert
=>
unchanged
