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

-- cased: singer.country / france = France
SELECT artist_name FROM singer WHERE country = 'france'
=>
SELECT artist_name FROM singer WHERE LOWER(CAST(country AS TEXT)) = LOWER('france')

-- cased: singer.country / fRANCE = France
SELECT s.artist_name FROM singer AS s WHERE s.country <> 'fRANCE' AND s.artist_name = 'fRANCE'
=>
SELECT s.artist_name FROM singer AS s WHERE LOWER(CAST(s.country AS TEXT)) <> LOWER('fRANCE') AND s.artist_name = 'fRANCE'

-- cased: singer.country / france = France
SELECT artist_name FROM singer WHERE country = 'Spain'
=>
unchanged

-- the others of a list as well
-- cased: singer.country / france = France
SELECT artist_name FROM singer WHERE country IN ('Spain', 'france')
=>
SELECT artist_name FROM singer WHERE LOWER(CAST(country AS TEXT)) IN (LOWER('Spain'), LOWER('france'))

-- schema: codes
-- values: dpt.dpt_nm = Sales
-- missing: pay.dpt_cd = Sales
SELECT SUM(amt) FROM pay WHERE dpt_cd = 'Sales'
=>
SELECT SUM(amt) FROM pay WHERE dpt_cd IN (SELECT dpt_cd FROM dpt WHERE dpt_nm = 'Sales')

-- it was not looked for
-- schema: codes
-- values: dpt.dpt_nm = Sales
SELECT SUM(amt) FROM pay WHERE dpt_cd = 'Sales'
=>
unchanged

-- nor does what it refers to
-- schema: codes
-- question: What did we pay for Sales?
-- values: dpt.dpt_nm = Legal
-- missing: pay.dpt_cd = Sales
SELECT SUM(amt) FROM pay WHERE dpt_cd = 'Sales'
=>
unchanged
