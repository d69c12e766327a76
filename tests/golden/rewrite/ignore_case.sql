-- Patterns are compared without case.

SELECT artist_name FROM singer WHERE artist_name LIKE '%A%'
=>
SELECT artist_name FROM singer WHERE artist_name ILIKE '%A%'

-- no letters
SELECT artist_name FROM singer WHERE artist_name LIKE '%1%'
=>
unchanged

-- it is so already
SELECT artist_name FROM singer WHERE artist_name ILIKE '%a%'
=>
unchanged

-- no pattern
SELECT artist_name FROM singer WHERE artist_name = 'a'
=>
unchanged
