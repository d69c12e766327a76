-- Groups are put in the order of their sums where the rows of many are.

-- schema: terse
SELECT dpt.dpt_nm FROM dpt JOIN pay ON dpt.dpt_id = pay.dpt_id ORDER BY pay.amt DESC LIMIT 1
=>
SELECT dpt.dpt_nm FROM dpt JOIN pay ON dpt.dpt_id = pay.dpt_id GROUP BY dpt.dpt_id, dpt.dpt_nm ORDER BY SUM(pay.amt) DESC NULLS LAST LIMIT 1

-- the key is shown already
-- schema: terse
SELECT d.dpt_id, d.dpt_nm FROM pay AS p JOIN dpt AS d ON d.dpt_id = p.dpt_id WHERE p.amt > 0 ORDER BY amt DESC LIMIT 2
=>
SELECT d.dpt_id, d.dpt_nm FROM pay AS p JOIN dpt AS d ON d.dpt_id = p.dpt_id WHERE p.amt > 0 GROUP BY d.dpt_id, d.dpt_nm ORDER BY SUM(amt) DESC NULLS LAST LIMIT 2

-- a reference of the table itself
-- schema: terse
SELECT dpt_id FROM pay ORDER BY amt DESC LIMIT 1
=>
SELECT dpt_id FROM pay GROUP BY dpt_id ORDER BY SUM(amt) DESC NULLS LAST LIMIT 1

-- a column of few values
-- schema: codes
-- lists: pay.payee = Ann, Bob
SELECT payee FROM pay ORDER BY amt DESC LIMIT 1
=>
SELECT payee FROM pay GROUP BY payee ORDER BY SUM(amt) DESC NULLS LAST LIMIT 1

-- a column of many
-- schema: codes
SELECT payee FROM pay ORDER BY amt DESC LIMIT 1
=>
unchanged

-- the row itself is shown
-- schema: terse
SELECT pay.pay_id, dpt.dpt_nm FROM dpt JOIN pay ON dpt.dpt_id = pay.dpt_id ORDER BY pay.amt DESC LIMIT 1
=>
unchanged

-- the least is no sum
-- schema: terse
SELECT dpt.dpt_nm FROM dpt JOIN pay ON dpt.dpt_id = pay.dpt_id ORDER BY pay.amt LIMIT 1
=>
unchanged

-- the latest is no sum
-- schema: terse
SELECT dpt.dpt_nm FROM dpt JOIN pay ON dpt.dpt_id = pay.dpt_id ORDER BY pay.pd_on DESC LIMIT 1
=>
unchanged

-- all are shown
-- schema: terse
SELECT dpt.dpt_nm FROM dpt JOIN pay ON dpt.dpt_id = pay.dpt_id ORDER BY pay.amt DESC
=>
unchanged
