-- A literal is written as its column holds it where only capitals differ.

-- values: singer.country = France; stadium.name = Wembley
SELECT artist_name FROM singer WHERE country = 'france'
=>
SELECT artist_name FROM singer WHERE country = 'France'

-- values: singer.country = France; stadium.name = Wembley
SELECT s.name FROM stadium AS s WHERE s.name IN ('WEMBLEY', 'Oval')
=>
SELECT s.name FROM stadium AS s WHERE s.name IN ('Wembley', 'Oval')

-- the value is of another column
-- values: singer.country = France; stadium.name = Wembley
SELECT s.title FROM concert AS s WHERE s.title <> 'france'
=>
unchanged

-- both spellings are stored
-- values: singer.country = France, france
SELECT artist_name FROM singer WHERE country = 'france'
=>
unchanged

-- two spellings are stored, and neither is written
-- values: singer.country = France, FRANCE
SELECT artist_name FROM singer WHERE country = 'france'
=>
unchanged
