-- Of two rows of a table, that which is asked for.

-- schema: people
-- question: Who is the boss of Ann?
SELECT s.last_name FROM staff AS s JOIN staff AS b ON s.boss_id = b.staff_id WHERE s.last_name = 'Ann'
=>
SELECT b.last_name FROM staff AS s JOIN staff AS b ON s.boss_id = b.staff_id WHERE s.last_name = 'Ann'

-- schema: people
-- question: How many people report to each boss?
SELECT s.last_name, COUNT(*) FROM staff AS s JOIN staff AS b ON s.boss_id = b.staff_id GROUP BY s.last_name
=>
SELECT b.last_name, COUNT(*) FROM staff AS s JOIN staff AS b ON s.boss_id = b.staff_id GROUP BY b.last_name

-- each boss has several
-- schema: people
-- question: How many people report to each boss?
SELECT b.last_name, COUNT(*) FROM staff AS s JOIN staff AS b ON s.boss_id = b.staff_id GROUP BY b.last_name
=>
unchanged

-- both are shown
-- schema: people
-- question: Ann and her boss
SELECT s.last_name, b.last_name FROM staff AS s JOIN staff AS b ON s.boss_id = b.staff_id WHERE s.last_name = 'Ann'
=>
unchanged
