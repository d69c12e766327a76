-- A column that its table has under a longer name, or in parts.

-- schema: people
SELECT SUM(t1.net) FROM staff AS t1 WHERE t1.net > 1
=>
SELECT SUM(t1.paid_net) FROM staff AS t1 WHERE t1.paid_net > 1

-- schema: people
-- question: names of the staff
SELECT t1.name, COUNT(*) FROM staff AS t1 GROUP BY t1.name
=>
SELECT t1.first_name, t1.last_name, COUNT(*) FROM staff AS t1 GROUP BY t1.first_name, t1.last_name

-- which part is compared is not known
-- schema: people
SELECT t1.staff_id FROM staff AS t1 WHERE t1.name = 'Ann'
=>
unchanged

-- only a name is in parts
-- schema: people
SELECT t1.paid FROM staff AS t1
=>
unchanged

-- there it is
SELECT t1.name FROM stadium AS t1
=>
unchanged
