-- People call rows by a name, not by a key.

-- question: Which stadium is the largest?
SELECT stadium_id FROM stadium ORDER BY capacity DESC LIMIT 1
=>
SELECT stadium.name FROM stadium ORDER BY stadium.capacity DESC LIMIT 1

-- of a table that is referred to; grouped by both
-- question: How many concerts were there at each stadium?
SELECT stadium_id, COUNT(*) FROM concert GROUP BY stadium_id
=>
SELECT stadium.name, COUNT(*) FROM concert JOIN stadium ON concert.stadium_id = stadium.stadium_id GROUP BY concert.stadium_id, stadium.name

-- of a table that is joined already
-- question: How many concerts were there at each large stadium?
SELECT c.stadium_id, COUNT(*) FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE s.capacity > '900' GROUP BY c.stadium_id
=>
SELECT s.name, COUNT(*) FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE s.capacity > '900' GROUP BY c.stadium_id, s.name

-- of another row of the same table
-- schema: people
-- question: Who is the boss of Ann?
SELECT boss_id FROM staff WHERE first_name = 'Ann'
=>
SELECT boss.first_name, boss.last_name FROM staff JOIN staff AS boss ON staff.boss_id = boss.staff_id WHERE staff.first_name = 'Ann'

-- the question asks for keys
-- question: What are the ids of the largest stadiums?
SELECT stadium_id FROM stadium ORDER BY capacity DESC LIMIT 3
=>
unchanged

-- the name is shown, or tested
-- question: Which stadium is called Wembley?
SELECT stadium_id FROM stadium WHERE name = 'Wembley'
=>
unchanged

-- rows are called by several texts
-- question: Which singer is from France?
SELECT singer_id FROM singer WHERE country = 'France'
=>
unchanged
