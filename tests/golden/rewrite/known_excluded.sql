-- NULL is left out of what NOT IN compares with.

SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT stadium_id FROM concert WHERE year = '3')
=>
SELECT name FROM stadium WHERE NOT stadium_id IN (SELECT stadium_id FROM concert WHERE year = '3' AND stadium_id IS NOT NULL)

-- never NULL
SELECT title FROM concert WHERE stadium_id NOT IN (SELECT stadium_id FROM stadium)
=>
unchanged

-- schema: required
SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT stadium_id FROM concert)
=>
unchanged

SELECT name FROM stadium WHERE stadium_id IN (SELECT stadium_id FROM concert)
=>
unchanged

SELECT name FROM stadium WHERE NOT stadium_id IN (1, 2)
=>
unchanged

SELECT name FROM stadium WHERE NOT stadium_id IN (SELECT stadium_id FROM concert WHERE NOT stadium_id IS NULL)
=>
unchanged
