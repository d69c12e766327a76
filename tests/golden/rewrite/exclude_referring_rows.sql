-- Excluding all of a table from itself leaves no row: what refers to it is excluded.

-- near: concert 0.4; singer_in_concert 0.6
SELECT artist_name FROM singer WHERE singer_id NOT IN (SELECT singer_id FROM singer)
=>
SELECT artist_name FROM singer WHERE NOT singer_id IN (SELECT singer_id FROM singer_in_concert)

-- of several tables that refer to it, the nearest
-- schema: tour
-- near: tour 1.0
SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT stadium_id FROM stadium)
=>
SELECT name FROM stadium WHERE NOT stadium_id IN (SELECT stadium_id FROM tour)

-- schema: tour
-- near: concert 1.0
SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT stadium_id FROM stadium)
=>
SELECT name FROM stadium WHERE NOT stadium_id IN (SELECT stadium_id FROM concert)

-- nothing refers to it
SELECT entry_id FROM singer_in_concert WHERE entry_id NOT IN (SELECT entry_id FROM singer_in_concert)
=>
unchanged

SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT stadium_id FROM concert)
=>
unchanged

-- a part of the table
SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT stadium_id FROM stadium WHERE capacity = '3')
=>
unchanged

SELECT name FROM stadium WHERE stadium_id IN (SELECT stadium_id FROM stadium)
=>
unchanged
