-- Values of the rows that are tested are shown once each.

SELECT s.year FROM concert AS s WHERE s.stadium_id > 0
=>
SELECT DISTINCT s.year FROM concert AS s WHERE s.stadium_id > 0

-- a key
SELECT concert_id FROM concert WHERE year = '2014'
=>
unchanged

-- nothing is tested
SELECT year FROM concert
=>
unchanged

-- tables are joined
SELECT concert.year FROM concert JOIN stadium ON concert.stadium_id = stadium.stadium_id WHERE stadium.name = 'a'
=>
unchanged
