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

-- columns of different things: the tables are joined by their key
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS c ON c.concert_id = s.singer_id
=>
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS c ON c.singer_id = s.singer_id

-- in WHERE as well
SELECT s.artist_name FROM singer AS s, singer_in_concert AS c WHERE s.singer_id = c.concert_id AND s.country = 'Kenya'
=>
SELECT s.artist_name FROM singer AS s, singer_in_concert AS c WHERE s.singer_id = c.singer_id AND s.country = 'Kenya'

-- a half of a key
-- schema: league
SELECT COUNT(*) FROM game AS g JOIN team AS t ON g.home_id = t.team_id
=>
SELECT COUNT(*) FROM game AS g JOIN team AS t ON g.home_id = t.team_id AND g.season = t.season

-- schema: league
SELECT name, COUNT(*) FROM game JOIN team USING (season) GROUP BY name
=>
SELECT team.name, COUNT(*) FROM game JOIN team ON game.home_id = team.team_id AND game.season = team.season GROUP BY team.name

-- both halves
-- schema: league
SELECT COUNT(*) FROM game AS g JOIN team AS t ON g.home_id = t.team_id AND t.season = g.season
=>
unchanged

-- one season
-- schema: league
SELECT COUNT(*) FROM game AS g JOIN team AS t ON g.home_id = t.team_id WHERE g.season = 7 AND t.season = 7
=>
unchanged

-- no key leads from the one to the other
SELECT country FROM concert JOIN singer ON concert.stadium_id = singer.singer_id
=>
unchanged
