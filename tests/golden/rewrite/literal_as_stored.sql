-- A literal that its column does not hold is written as the stored value that was found for it.

-- stored: singer.country / france = France
SELECT artist_name FROM singer WHERE country = 'france'
=>
SELECT artist_name FROM singer WHERE country = 'France'

-- stored: stadium.name / WEMBLEY = Wembley; stadium.name / ov'l = O'Val
SELECT s.name FROM stadium AS s WHERE s.name IN ('WEMBLEY', 'ov''l') AND s.name <> 'WEMBLEY'
=>
SELECT s.name FROM stadium AS s WHERE s.name IN ('Wembley', 'O''Val') AND s.name <> 'Wembley'

-- the value is of another column
-- stored: singer.country / france = France
SELECT s.title FROM concert AS s WHERE s.title <> 'france'
=>
unchanged

-- patterns match what they match
-- stored: singer.country / france = France
SELECT artist_name FROM singer WHERE country LIKE 'france'
=>
unchanged

-- nothing was found for it
SELECT artist_name FROM singer WHERE country = 'france'
=>
unchanged
