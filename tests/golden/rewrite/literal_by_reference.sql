-- A literal that no table of FROM is known to hold is looked for in a table that is referred to.

-- schema: codes
-- values: dpt.dpt_nm = Sales
SELECT SUM(amt) FROM pay WHERE dpt_cd = 'Sales'
=>
SELECT SUM(amt) FROM pay WHERE dpt_cd IN (SELECT dpt_cd FROM dpt WHERE dpt_nm = 'Sales')

-- as it is stored
-- schema: codes
-- values: dpt.dpt_nm = Sales
SELECT SUM(p.amt) FROM pay AS p WHERE p.dpt_cd <> 'SALES'
=>
SELECT SUM(p.amt) FROM pay AS p WHERE NOT p.dpt_cd IN (SELECT dpt_cd FROM dpt WHERE dpt_nm = 'Sales')

-- by the one reference that leads there
-- values: stadium.name = Wembley
SELECT year FROM concert WHERE title = 'Wembley'
=>
SELECT year FROM concert WHERE stadium_id IN (SELECT stadium_id FROM stadium WHERE name = 'Wembley')

-- a code that nobody said
-- question: What did we pay in sales?
-- schema: codes
-- values: dpt.dpt_nm = Sales
SELECT SUM(amt) FROM pay WHERE dpt_cd = 'CUR'
=>
SELECT SUM(amt) FROM pay WHERE dpt_cd IN (SELECT dpt_cd FROM dpt WHERE dpt_nm = 'Sales')

-- a text that was said
-- question: What did we pay to Ann in sales?
-- schema: codes
-- values: dpt.dpt_nm = Sales
SELECT SUM(amt) FROM pay WHERE payee = 'Ann'
=>
unchanged

-- the table is read
-- schema: codes
-- values: dpt.dpt_nm = Sales
SELECT SUM(pay.amt) FROM pay JOIN dpt ON pay.dpt_cd = dpt.dpt_cd WHERE pay.dpt_cd = 'Sales'
=>
unchanged

-- it holds the key itself
-- schema: codes
-- values: dpt.dpt_cd = S
SELECT SUM(amt) FROM pay WHERE payee = 'S'
=>
unchanged

-- where it is held
-- schema: codes
-- values: dpt.dpt_nm = Sales; pay.dpt_cd = Sales
SELECT SUM(amt) FROM pay WHERE dpt_cd = 'Sales'
=>
unchanged

-- what refers is not referred to
-- values: member.name = Ann
-- schema: flags
SELECT title FROM club WHERE title = 'Ann'
=>
unchanged
