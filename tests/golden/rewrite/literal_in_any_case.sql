-- Compares in small letters with a text that is stored but for its capital ones.

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
