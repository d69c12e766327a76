-- A key of a joined table that is to be NULL asks for rows without one.

-- question: Which singers are in no concert?
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id WHERE e.entry_id IS NULL
=>
SELECT s.artist_name FROM singer AS s LEFT JOIN singer_in_concert AS e ON s.singer_id = e.singer_id WHERE e.entry_id IS NULL

-- joined so already
SELECT s.artist_name FROM singer AS s LEFT JOIN singer_in_concert AS e ON s.singer_id = e.singer_id WHERE e.entry_id IS NULL
=>
unchanged

-- a column that may be NULL
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE s.name IS NULL
=>
unchanged

-- it is to be there
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id WHERE NOT e.entry_id IS NULL
=>
unchanged
