-- A text that names a table which is read is no value of its columns.

-- by a synonym
-- schema: words
-- question: How many arenas do we have?
SELECT COUNT(*) FROM stadium WHERE name = 'arena'
=>
SELECT COUNT(*) FROM stadium

-- by its name, beside another test
-- question: How many singers from France are there?
SELECT COUNT(*) FROM singer WHERE country = 'France' AND artist_name = 'singer'
=>
SELECT COUNT(*) FROM singer WHERE country = 'France'

-- the table is not read
-- question: Which concerts are named after a stadium?
SELECT title FROM concert WHERE title = 'Stadium'
=>
unchanged

-- the column is known to hold it
-- question: How many singers are called Singer?
-- values: singer.artist_name = Singer
SELECT COUNT(*) FROM singer WHERE artist_name = 'Singer'
=>
unchanged

-- it says more than the name
-- question: How many stadiums are there?
SELECT COUNT(*) FROM stadium WHERE name = 'Somerset Stadium'
=>
unchanged
