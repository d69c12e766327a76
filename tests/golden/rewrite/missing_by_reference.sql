-- A text that its column does not hold is looked for where the column refers to.

-- schema: codes
-- values: dpt.dpt_nm = Sales
-- missing: pay.dpt_cd = Sales
SELECT SUM(amt) FROM pay WHERE dpt_cd = 'Sales'
=>
SELECT SUM(amt) FROM pay WHERE dpt_cd IN (SELECT dpt_cd FROM dpt WHERE dpt_nm = 'Sales')

-- it was not looked for
-- schema: codes
-- values: dpt.dpt_nm = Sales
SELECT SUM(amt) FROM pay WHERE dpt_cd = 'Sales'
=>
unchanged

-- nor does what it refers to
-- schema: codes
-- question: What did we pay for Sales?
-- values: dpt.dpt_nm = Legal
-- missing: pay.dpt_cd = Sales
SELECT SUM(amt) FROM pay WHERE dpt_cd = 'Sales'
=>
unchanged
