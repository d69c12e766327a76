-- A key that is compared with another key of a subquery is compared with the one that refers to it.

SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT concert_id FROM concert)
=>
SELECT name FROM stadium WHERE NOT stadium_id IN (SELECT stadium_id FROM concert)

SELECT name FROM stadium WHERE stadium_id IN (SELECT concert_id FROM concert WHERE year = '2014')
=>
SELECT name FROM stadium WHERE stadium_id IN (SELECT stadium_id FROM concert WHERE year = '2014')

SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT stadium_id FROM concert)
=>
unchanged

-- no keys
SELECT name FROM stadium WHERE name IN (SELECT title FROM concert)
=>
unchanged

-- no reference between the two
SELECT artist_name FROM singer WHERE singer_id IN (SELECT concert_id FROM concert)
=>
unchanged
