-- The first of each is asked for, not the first of all.

-- question: the newest singer of each country
SELECT artist_name FROM singer ORDER BY singer_id DESC LIMIT 1
=>
SELECT DISTINCT ON (singer.country) singer.country, singer.artist_name FROM singer ORDER BY singer.country, singer.singer_id DESC

-- of groups
-- question: the artist with the most concerts per country
SELECT singer.artist_name FROM singer JOIN singer_in_concert ON singer.singer_id = singer_in_concert.singer_id GROUP BY singer.artist_name ORDER BY COUNT(*) DESC LIMIT 1
=>
SELECT DISTINCT ON (singer.country) singer.country, singer.artist_name FROM singer JOIN singer_in_concert ON singer.singer_id = singer_in_concert.singer_id GROUP BY singer.country, singer.artist_name ORDER BY singer.country, COUNT(*) DESC

-- of a table that is referred to, by what its rows are called
-- schema: terse
-- question: the largest pay amount for each department
SELECT amt, pay_id FROM pay ORDER BY amt DESC LIMIT 1
=>
SELECT DISTINCT ON (dpt.dpt_nm) dpt.dpt_nm, pay.amt, pay.pay_id FROM pay JOIN dpt ON pay.dpt_id = dpt.dpt_id ORDER BY dpt.dpt_nm, pay.amt DESC

-- it is the first of all
-- question: the newest singer
SELECT artist_name FROM singer ORDER BY singer_id DESC LIMIT 1
=>
unchanged

-- several of each
-- question: the three newest singers of each country
SELECT artist_name FROM singer ORDER BY singer_id DESC LIMIT 3
=>
unchanged

-- by what the question asks it of each of
-- question: the number of singers for each country
SELECT country, COUNT(*) FROM singer GROUP BY country ORDER BY COUNT(*) DESC LIMIT 1
=>
unchanged

-- one of them alone
-- question: the newest singer in each country that is called France
SELECT artist_name FROM singer WHERE country = 'France' ORDER BY singer_id DESC LIMIT 1
=>
unchanged

-- groups that show some row of each, in an order
-- question: the newest singer of each country
SELECT artist_name FROM singer GROUP BY country, artist_name, singer_id ORDER BY singer_id DESC
=>
SELECT DISTINCT ON (singer.country) singer.country, singer.artist_name FROM singer ORDER BY singer.country, singer.singer_id DESC

-- no first is asked for
-- question: singers of each country
SELECT artist_name FROM singer GROUP BY country, artist_name ORDER BY artist_name
=>
unchanged
