-- Tests a value that the question names and nothing of the statement says.

-- schema: codes
-- values: pay.payee = Ann
SELECT SUM(amt) FROM pay
=>
SELECT SUM(pay.amt) FROM pay WHERE pay.payee = 'Ann'

-- beside another test
-- schema: codes
-- values: pay.payee = Ann
SELECT p.amt FROM pay AS p WHERE p.amt > 1
=>
SELECT p.amt FROM pay AS p WHERE p.amt > 1 AND p.payee = 'Ann'

-- of a table that is referred to
-- schema: codes
-- values: dpt.dpt_nm = Sales
SELECT SUM(amt) FROM pay
=>
SELECT SUM(pay.amt) FROM pay JOIN dpt ON pay.dpt_cd = dpt.dpt_cd WHERE dpt.dpt_nm = 'Sales'

-- what refers repeats rows
-- schema: codes
-- values: pay.payee = Ann
SELECT dpt_nm FROM dpt
=>
unchanged

-- it is said
-- schema: codes
-- values: pay.payee = Ann
SELECT SUM(amt) FROM pay WHERE payee LIKE 'ann%'
=>
unchanged

-- in which of two columns?
-- schema: codes
-- values: dpt.dpt_nm = Sales; pay.payee = Sales
SELECT SUM(pay.amt) FROM pay JOIN dpt ON pay.dpt_cd = dpt.dpt_cd
=>
unchanged

-- the column is tested for another one
-- schema: codes
-- values: pay.payee = Ann
SELECT SUM(amt) FROM pay WHERE payee = 'Bob'
=>
unchanged
