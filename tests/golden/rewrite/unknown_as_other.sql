-- "Not" over a column that may be NULL.

-- question: singers who are not from Kenya
SELECT artist_name FROM singer WHERE country <> 'Kenya'
=>
SELECT artist_name FROM singer WHERE country IS DISTINCT FROM 'Kenya'

-- question: singers from neither Kenya nor France
SELECT artist_name FROM singer AS s WHERE NOT s.country IN ('Kenya', 'France') AND s.singer_id > 1
=>
SELECT artist_name FROM singer AS s WHERE (s.country IS NULL OR NOT s.country IN ('Kenya', 'France')) AND s.singer_id > 1

-- question: singers who are not from Kenya
SELECT artist_name FROM singer WHERE NOT country = 'Kenya'
=>
SELECT artist_name FROM singer WHERE country IS DISTINCT FROM 'Kenya'

-- nothing is denied
-- question: singers from other countries than Kenya
SELECT artist_name FROM singer WHERE country <> 'Kenya'
=>
unchanged

-- a key is never NULL
-- question: singers but not number 3
SELECT artist_name FROM singer WHERE singer_id <> 3
=>
unchanged

-- it is tested
-- question: singers who are not from Kenya
SELECT artist_name FROM singer WHERE country <> 'Kenya' AND NOT country IS NULL
=>
unchanged
