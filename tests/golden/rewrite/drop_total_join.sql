-- A table of which nothing is used is left out where the join keeps every row and repeats none. Schema required: foreign
-- keys that PostgreSQL enforces, over columns that are never NULL; optional: over columns that may be.

-- schema: required
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE c.year = '2014'
=>
SELECT c.title FROM concert AS c WHERE c.year = '2014'

-- schema: required
-- question: Which concerts were in a stadium?
SELECT COUNT(concert.title) FROM concert JOIN stadium ON stadium.stadium_id = concert.stadium_id
=>
SELECT COUNT(concert.title) FROM concert

-- of nothing that is used no table is the one to stay
-- schema: required
SELECT COUNT(*) FROM concert JOIN stadium ON stadium.stadium_id = concert.stadium_id
=>
unchanged

-- schema: required
SELECT c.title, e.entry_id FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id
=>
SELECT c.title, e.entry_id FROM singer_in_concert AS e JOIN concert AS c ON e.concert_id = c.concert_id

-- schema: required
SELECT DISTINCT c.year FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id ORDER BY c.year DESC LIMIT 2
=>
SELECT DISTINCT c.year FROM concert AS c ORDER BY c.year DESC LIMIT 2

-- the key may be NULL: such rows are not joined
-- schema: optional
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE c.year = '2014'
=>
unchanged

-- the foreign key is not enforced at every moment
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE c.year = '2014'
=>
unchanged

-- who asks may not see every row
-- schema: required
-- secured: stadium
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE c.year = '2014'
=>
unchanged

-- each row is repeated by it
-- schema: required
SELECT s.name FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id
=>
unchanged

-- an outer join
-- schema: required
SELECT c.title FROM concert AS c LEFT JOIN stadium AS s ON c.stadium_id = s.stadium_id
=>
unchanged

-- joined by other columns
-- schema: required
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.concert_id = s.stadium_id
=>
unchanged

-- something of it is tested
-- schema: required
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE s.capacity = '3'
=>
unchanged
