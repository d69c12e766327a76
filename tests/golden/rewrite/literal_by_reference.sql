-- A literal that no table of FROM is known to hold is looked for in a table that is referred to.

-- schema: terse
-- values: dpt.dpt_nm = Sales
SELECT SUM(amt) FROM pay WHERE dpt_id = 'Sales'
=>
SELECT SUM(amt) FROM pay WHERE dpt_id IN (SELECT dpt_id FROM dpt WHERE dpt_nm = 'Sales')

-- as it is stored
-- schema: terse
-- values: dpt.dpt_nm = Sales
SELECT SUM(p.amt) FROM pay AS p WHERE p.dpt_id <> 'SALES'
=>
SELECT SUM(p.amt) FROM pay AS p WHERE NOT p.dpt_id IN (SELECT dpt_id FROM dpt WHERE dpt_nm = 'Sales')

-- by the one reference that leads there
-- values: stadium.name = Wembley
SELECT year FROM concert WHERE title = 'Wembley'
=>
SELECT year FROM concert WHERE stadium_id IN (SELECT stadium_id FROM stadium WHERE name = 'Wembley')

-- a code that nobody said
-- question: What did we pay in sales?
-- schema: terse
-- values: dpt.dpt_nm = Sales
SELECT SUM(amt) FROM pay WHERE dpt_id = 'CUR'
=>
SELECT SUM(amt) FROM pay WHERE dpt_id IN (SELECT dpt_id FROM dpt WHERE dpt_nm = 'Sales')

-- a text that was said
-- question: What did we pay to Ann in sales?
-- schema: terse
-- values: dpt.dpt_nm = Sales
SELECT SUM(amt) FROM pay WHERE pay_id = 'Ann'
=>
unchanged

-- the table is read
-- schema: terse
-- values: dpt.dpt_nm = Sales
SELECT SUM(pay.amt) FROM pay JOIN dpt ON pay.dpt_id = dpt.dpt_id WHERE pay.dpt_id = 'Sales'
=>
unchanged

-- it holds the key itself
-- schema: terse
-- values: dpt.dpt_id = S
SELECT SUM(amt) FROM pay WHERE pay_id = 'S'
=>
unchanged

-- where it is held
-- schema: terse
-- values: dpt.dpt_nm = Sales; pay.dpt_id = Sales
SELECT SUM(amt) FROM pay WHERE dpt_id = 'Sales'
=>
unchanged

-- what refers is not referred to
-- values: member.name = Ann
-- schema: flags
SELECT title FROM club WHERE title = 'Ann'
=>
unchanged
