-- Statements that several rules come near to, and none of those named changes.

-- rules: requalify, join_missing_tables, text_as_number, mend_groups, compare_by_reference, literal_as_stored
SELECT MAX(capacity) FROM stadium WHERE capacity > '3'
=>
unchanged

-- rules: requalify, join_missing_tables, text_as_number, mend_groups, compare_by_reference, literal_as_stored
SELECT COUNT(*) FROM singer ORDER BY COUNT(*)
=>
unchanged

-- rules: requalify, join_missing_tables, text_as_number, mend_groups, compare_by_reference, literal_as_stored
SELECT artist_name, COUNT(*) FROM singer GROUP BY singer_id
=>
unchanged

-- rules: requalify, join_missing_tables, text_as_number, mend_groups, compare_by_reference, literal_as_stored
SELECT artist_name, COUNT(*) FROM singer
=>
unchanged

-- rules: requalify, join_missing_tables, text_as_number, mend_groups, compare_by_reference, literal_as_stored
SELECT upper(country), COUNT(*) FROM singer GROUP BY upper(country)
=>
unchanged

-- rules: requalify, join_missing_tables, text_as_number, mend_groups, compare_by_reference, literal_as_stored
SELECT name FROM stadium WHERE name IN (SELECT title FROM concert)
=>
unchanged

-- rules: requalify, join_missing_tables, text_as_number, mend_groups, compare_by_reference, literal_as_stored
SELECT artist_name FROM singer WHERE singer_id IN (SELECT concert_id FROM concert)
=>
unchanged

-- rules: requalify, join_missing_tables, text_as_number, mend_groups, compare_by_reference, literal_as_stored
SELECT s.name FROM concert c JOIN stadium s ON c.stadium_id = s.stadium_id
=>
unchanged

-- rules: requalify, join_missing_tables, text_as_number, mend_groups, compare_by_reference, literal_as_stored
SELECT c.title FROM concert c LEFT JOIN stadium s ON c.concert_id = s.stadium_id
=>
unchanged

-- rules: requalify, join_missing_tables, text_as_number, mend_groups, compare_by_reference, literal_as_stored
SELECT a.country FROM singer a JOIN singer b ON a.country = b.artist_name
=>
unchanged

-- rules: requalify, join_missing_tables, text_as_number, mend_groups, compare_by_reference, literal_as_stored
SELECT country FROM singer GROUP BY country ORDER BY COUNT(*) DESC LIMIT 1
=>
unchanged

-- rules: requalify, join_missing_tables, text_as_number, mend_groups, compare_by_reference, literal_as_stored
SELECT name FROM stadium ORDER BY capacity LIMIT 1
=>
unchanged

-- rules: requalify, join_missing_tables, text_as_number, mend_groups, compare_by_reference, literal_as_stored
SELECT country, COUNT(*) AS many FROM singer GROUP BY country ORDER BY many
=>
unchanged

-- rules: requalify, join_missing_tables, text_as_number, mend_groups, compare_by_reference, literal_as_stored
SELECT x.title FROM (SELECT title FROM concert) AS x
=>
unchanged

-- rules: requalify, join_missing_tables, text_as_number, mend_groups, compare_by_reference, literal_as_stored
WITH singer AS (SELECT title AS entry_id FROM concert) SELECT singer.entry_id FROM singer
=>
unchanged

-- rules: none_of_them, each_once, drop_unasked_join, drop_total_join
-- question: Which concerts of 2014 were in a stadium?
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE c.year = '2014'
=>
unchanged

-- rules: none_of_them, drop_unasked_join, drop_total_join
-- question: Names of singers in 2014
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year = '2014'
=>
unchanged

-- rules: none_of_them, each_once, drop_unasked_join, drop_total_join
-- question: A stadium that had a concert
SELECT s.name FROM stadium s JOIN concert c ON s.stadium_id = c.stadium_id LIMIT 1
=>
unchanged

-- rules: none_of_them, each_once, drop_unasked_join, drop_total_join
-- question: Each concert's stadium
SELECT c.title, s.name FROM stadium s JOIN concert c ON s.stadium_id = c.stadium_id
=>
unchanged

-- rules: each_once, drop_unasked_join, drop_total_join
-- question: Which concerts were not in x?
SELECT title FROM concert WHERE year <> '2014'
=>
unchanged

-- rules: none_of_them, each_once, drop_unasked_join, drop_total_join
-- question: Which concerts were not in a stadium for 3?
SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE s.capacity <> '3'
=>
unchanged

-- rules: none_of_them, drop_unasked_join, drop_total_join
-- question: Which singers sang in a year but 2014?
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year <> '2014'
=>
unchanged

-- rules: none_of_them, each_once, drop_unasked_join, drop_total_join
-- question: Singers and titles, not of 2014
SELECT s.artist_name, c.title FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year <> '2014'
=>
unchanged

-- rules: none_of_them, drop_unasked_join, drop_total_join
-- question: Which singers sang in 2014 or in 2015?
SELECT s.artist_name FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year IN ('2014', '2015')
=>
unchanged

-- rules: none_of_them, each_once, drop_unasked_join, drop_total_join
-- question: Titles of 2014 and 2015
SELECT title FROM concert WHERE year IN ('2014', '2015')
=>
unchanged

-- rules: none_of_them, each_once, drop_unasked_join, drop_total_join
-- question: How many sang in both 2014 and 2015?
SELECT COUNT(*) FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year IN ('2014', '2015')
=>
unchanged

-- rules: none_of_them, each_once, drop_unasked_join, drop_total_join
-- question: Singers who did not sing in 2014, with their concerts
SELECT s.artist_name, COUNT(*) FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id JOIN concert AS c ON e.concert_id = c.concert_id WHERE c.year <> '2014' GROUP BY s.artist_name
=>
unchanged

-- rules: none_of_them, each_once, drop_unasked_join, drop_total_join
-- question: Which singers did not sing in 2014?
SELECT s.artist_name FROM singer s JOIN concert c ON s.singer_id = s.singer_id WHERE c.year <> '2014'
=>
unchanged
