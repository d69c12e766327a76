-- A literal that its column is not known to hold is looked for in a column that holds it, of a table that is read.

-- values: singer.country = France; stadium.name = Wembley
SELECT COUNT(*) FROM singer WHERE artist_name = 'France'
=>
SELECT COUNT(*) FROM singer WHERE country = 'France'

-- in another table of FROM
-- values: singer.country = France; stadium.name = Wembley
SELECT c.year FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE c.title = 'Wembley'
=>
SELECT c.year FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE s.name = 'Wembley'

-- in no other
-- values: singer.country = France; stadium.name = Wembley
SELECT year FROM concert WHERE title = 'Wembley'
=>
unchanged

-- where it is held
-- values: singer.country = France; stadium.name = Wembley
SELECT COUNT(*) FROM singer WHERE country = 'France'
=>
unchanged

-- held nowhere
-- values: singer.country = France; stadium.name = Wembley
SELECT COUNT(*) FROM singer WHERE artist_name = 'Ann'
=>
unchanged
