-- Statements that an analyst may ask for. Blank lines separate them; each is also run on PostgreSQL.

SELECT 1

SELECT

TABLE customers

VALUES (1, 'one'), (2, 'two')

SELECT * FROM customers;

;; SELECT 'é' -- a comment at the end

/* a comment */ SELECT name /* another; one */ FROM customers

SELECT c.name AS "Customer", c.* FROM public.customers AS c WHERE c.country = 'GB' ORDER BY 1 DESC NULLS LAST

SELECT DISTINCT city FROM customers WHERE city IS NOT NULL

SELECT DISTINCT ON (customer_id) customer_id, placed FROM orders ORDER BY customer_id, placed DESC

SELECT count(*), count(DISTINCT city), sum(id), avg(id), min(joined), max(joined), stddev_samp(id) FROM customers

SELECT city, count(*) FILTER (WHERE joined >= DATE '2021-01-01') AS recent FROM customers GROUP BY city HAVING count(*) > 1

SELECT category, percentile_cont(0.5) WITHIN GROUP (ORDER BY price) FROM products GROUP BY category

SELECT percentile_disc(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY price), mode() WITHIN GROUP (ORDER BY category) FROM products

SELECT string_agg(name, ', ' ORDER BY name DESC) FROM customers

SELECT array_agg(DISTINCT city ORDER BY city), json_agg(name), jsonb_object_agg(id, name) FROM customers

SELECT city, country, count(*), grouping(city, country) FROM customers GROUP BY GROUPING SETS ((city), (country), ())

SELECT city, country, count(*) FROM customers GROUP BY ROLLUP (city, country)

SELECT city, country, count(*) FROM customers GROUP BY CUBE (city, country)

SELECT corr(price, id), regr_slope(price, id), covar_pop(price, id) FROM products

SELECT name, row_number() OVER (ORDER BY joined), rank() OVER (PARTITION BY country ORDER BY joined DESC) FROM customers

SELECT name, lag(joined, 1) OVER w, lead(joined) OVER w, first_value(name) OVER w, ntile(2) OVER w FROM customers WINDOW w AS (PARTITION BY country ORDER BY joined)

SELECT id, sum(price) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM products

SELECT id, avg(price) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM products

SELECT id, count(*) OVER (ORDER BY joined RANGE BETWEEN INTERVAL '1 year' PRECEDING AND CURRENT ROW) FROM customers

SELECT id, sum(id) OVER (ORDER BY country GROUPS 1 PRECEDING), cume_dist() OVER (ORDER BY id), percent_rank() OVER (ORDER BY id) FROM customers

WITH totals AS (SELECT order_id, sum(quantity) AS n FROM order_items GROUP BY order_id) SELECT * FROM totals WHERE n > 2

WITH a AS MATERIALIZED (SELECT 1 AS x), b (y) AS NOT MATERIALIZED (SELECT x + 1 FROM a) SELECT * FROM a CROSS JOIN b

WITH RECURSIVE tree AS (SELECT id, 0 AS depth FROM customers WHERE referred_by IS NULL UNION ALL SELECT c.id, t.depth + 1 FROM customers c JOIN tree t ON c.referred_by = t.id) SELECT * FROM tree

WITH RECURSIVE g (id) AS (SELECT 1 UNION SELECT c.id FROM customers c, g WHERE c.referred_by = g.id) SEARCH DEPTH FIRST BY id SET ord CYCLE id SET looped USING path SELECT id, ord, looped FROM g

WITH x AS (WITH y AS (SELECT 1 AS v) SELECT v FROM y) SELECT v FROM x

SELECT c.name, o.id FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND o.status = 'paid'

SELECT * FROM customers c RIGHT OUTER JOIN orders o ON o.customer_id = c.id

SELECT * FROM customers c FULL JOIN orders o ON o.customer_id = c.id

SELECT o.id, p.name FROM orders o JOIN order_items i ON i.order_id = o.id INNER JOIN products p ON p.id = i.product_id

SELECT * FROM orders JOIN (SELECT order_id AS id, quantity FROM order_items) i USING (id)

SELECT u.id FROM orders JOIN (SELECT order_id AS id FROM order_items) i USING (id) AS u

SELECT * FROM products NATURAL JOIN customers

SELECT a.name, b.name FROM customers a, customers b WHERE a.referred_by = b.id

SELECT j.name FROM (customers c CROSS JOIN (SELECT 1 AS one) s) AS j

SELECT c.name, latest.placed FROM customers c CROSS JOIN LATERAL (SELECT placed FROM orders o WHERE o.customer_id = c.id ORDER BY placed DESC LIMIT 1) AS latest

SELECT p.name, v.kind, v.amount FROM products p, LATERAL (VALUES ('net', p.price), ('gross', p.price * 1.2)) AS v (kind, amount)

SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)

SELECT name FROM customers WHERE id IN (SELECT customer_id FROM orders) AND id NOT IN (7, 8, 9)

SELECT name, (SELECT count(*) FROM orders o WHERE o.customer_id = c.id) AS n FROM customers c

SELECT name FROM products WHERE price >= ALL (SELECT price FROM products) OR price = ANY (ARRAY[1.20, 2])

SELECT name FROM products p WHERE price > (SELECT avg(price) FROM products q WHERE q.category IS NOT DISTINCT FROM p.category)

SELECT ARRAY(SELECT name FROM customers ORDER BY 1)

SELECT * FROM order_items WHERE (order_id, product_id) IN ((1, 1), (2, 3)) AND (order_id, product_id) >= (1, 1)

SELECT * FROM order_items WHERE (order_id, product_id) = (SELECT 1, 2)

SELECT ROW(1, 'a', NULL), ROW(id, name) = ROW(1, 'Ada') FROM customers

SELECT name FROM customers UNION SELECT name FROM products

(SELECT id FROM customers ORDER BY id LIMIT 1) UNION ALL (SELECT id FROM orders) ORDER BY 1 OFFSET 1

SELECT id FROM customers INTERSECT SELECT customer_id FROM orders EXCEPT ALL SELECT 2

SELECT name FROM products ORDER BY price DESC FETCH FIRST 2 ROWS WITH TIES

SELECT name FROM products ORDER BY price DESC NULLS LAST, name ASC OFFSET 1 ROW FETCH NEXT 1 ROW ONLY

SELECT name FROM products ORDER BY price USING > LIMIT ALL

SELECT * FROM customers TABLESAMPLE BERNOULLI (50) REPEATABLE (1)

SELECT * FROM ONLY customers WHERE name ILIKE 'a%' OR name LIKE '%\_%' ESCAPE '\' OR name NOT LIKE 'x'

SELECT name FROM customers WHERE name SIMILAR TO '(A|B)%' OR name ~* '^c' OR name !~ 'z$'

SELECT regexp_replace(name, 'a', 'b', 'gi'), regexp_match(name, '(.)a'), substring(name FROM '^.'), regexp_count(name, 'a') FROM customers

SELECT m[1] FROM customers, regexp_matches(name, '(a)', 'g') AS m

SELECT id FROM customers WHERE id BETWEEN 1 AND 3 AND id NOT BETWEEN SYMMETRIC 9 AND 7

SELECT id FROM customers WHERE referred_by IS DISTINCT FROM 1 AND (city = 'London') IS NOT TRUE

SELECT CASE WHEN price > 100 THEN 'dear' WHEN price > 10 THEN 'fair' ELSE 'cheap' END, CASE category WHEN 'office' THEN 1 END FROM products

SELECT COALESCE(city, 'unknown'), NULLIF(city, 'Paris'), GREATEST(1, id), LEAST(id, 2) FROM customers

SELECT id::text, CAST(id AS numeric(10, 2)), '2020-01-01'::date, 1::bool, '{1,2}'::int[], 'a'::varchar(3) FROM customers

SELECT DATE '2020-01-01', TIME '10:00', TIMESTAMP '2020-01-01 10:00', INTERVAL '1 month', INTERVAL '3' DAY, TIMESTAMPTZ '2020-01-01 00:00Z'

SELECT CURRENT_DATE, CURRENT_TIMESTAMP, LOCALTIMESTAMP(0), now(), CURRENT_USER

SELECT EXTRACT(YEAR FROM placed), date_part('month', placed), date_trunc('quarter', placed), to_char(placed, 'YYYY-MM') FROM orders

SELECT placed AT TIME ZONE 'Europe/Paris', placed AT LOCAL, age(placed), age(now(), placed) FROM orders

SELECT placed - INTERVAL '30 days', placed + make_interval(days => 3), date_bin('15 minutes', placed, TIMESTAMPTZ '2000-01-01') FROM orders

SELECT joined - DATE '2020-01-01', joined + 7, (joined, joined + 1) OVERLAPS (DATE '2020-01-01', DATE '2020-12-31') FROM customers

SELECT to_date('05 Dec 2020', 'DD Mon YYYY'), to_timestamp(0), to_number('12,454.8-', '99G999D9S'), justify_days(INTERVAL '40 days')

SELECT upper(name), lower(name), initcap(name), length(name), char_length(name), left(name, 2), right(name, 1), lpad(name, 5, '.') FROM customers

SELECT trim(name), trim(BOTH 'x' FROM name), btrim(name, 'x'), position('d' IN name), overlay(name PLACING 'zz' FROM 1 FOR 2), substring(name FROM 1 FOR 2) FROM customers

SELECT split_part(name, 'd', 1), replace(name, 'a', 'b'), concat(name, '-', id), concat_ws(' ', name, city), name || '!' , format('%s (%s)', name, id), reverse(name), translate(name, 'a', 'b'), md5(name), starts_with(name, 'A') FROM customers

SELECT round(price, 1), ceil(price), floor(price), abs(-price), mod(7, 2), 7 % 2, power(2, 3), 2 ^ 3, sqrt(2), |/ 4, exp(1), ln(2), log(10), trunc(price), sign(price), width_bucket(price, 0, 100, 5) FROM products

SELECT round(100.0 * count(*) FILTER (WHERE status = 'paid') / NULLIF(count(*), 0), 2) AS share FROM orders

SELECT profile -> 'age', profile ->> 'age', profile #>> '{pets,0}', profile @> '{"age": 36}', profile ? 'pets', profile @? '$.pets[*]' FROM customers

SELECT key, value FROM customers, jsonb_each(profile)

SELECT e.key, e.value FROM customers c, jsonb_each_text(c.profile) AS e

SELECT pet FROM customers, jsonb_array_elements_text(profile -> 'pets') AS pet

SELECT r.a, r.b FROM json_to_recordset('[{"a":1,"b":"x"}]') AS r (a int, b text)

SELECT jt.n, jt.pet FROM customers, JSON_TABLE(profile, '$.pets[*]' COLUMNS (n FOR ORDINALITY, pet text PATH '$')) AS jt

SELECT JSON_OBJECT('a': 1), JSON_ARRAY(1, 2), JSON_VALUE(profile, '$.age' RETURNING int), JSON_EXISTS(profile, '$.pets'), JSON_QUERY(profile, '$.pets'), '{}' IS JSON FROM customers

SELECT jsonb_build_object('id', id, 'name', name), row_to_json(c), to_jsonb(tags) FROM customers c

SELECT JSON_OBJECTAGG(name: id), JSON_ARRAYAGG(name ORDER BY name) FROM customers

SELECT tags[1], tags[1:2], cardinality(tags), array_length(tags, 1), 'vip' = ANY (tags), tags && ARRAY['vip'], tags || 'x'::text, array_position(tags, 'vip') FROM customers

SELECT c.name, t.tag, t.n FROM customers c, unnest(c.tags) WITH ORDINALITY AS t (tag, n)

SELECT day::date FROM generate_series(DATE '2020-01-01', DATE '2020-01-07', INTERVAL '1 day') AS day

SELECT g.g, generate_series.generate_series FROM generate_series(1, 3) AS g, generate_series(1, 2)

SELECT * FROM ROWS FROM (generate_series(1, 2), unnest(ARRAY['a', 'b', 'c'])) WITH ORDINALITY AS z (n, s, o)

SELECT room, lower(during), upper(during), during && tstzrange('2021-01-01', '2021-01-02'), during @> TIMESTAMPTZ '2021-01-01 11:00Z' FROM bookings

SELECT range_agg(during), isempty(tstzrange(NULL, NULL)) FROM bookings

SELECT host(address), masklen(address), address << inet '10.0.0.0/8', spot <-> point '(0,0)' FROM bookings

SELECT ts_rank(body, q) FROM bookings, plainto_tsquery('english', 'room') AS q WHERE body @@ q

SELECT "Id", "Total" AS "Sum" FROM "Archive"."Old Orders"

SELECT pg_catalog.upper('a'), 1 OPERATOR(pg_catalog.+) 2

SELECT name COLLATE "C" FROM customers ORDER BY name COLLATE "C"

SELECT U&'d\0061t\+000061', E'a\tb', B'101', X'1F', $$it's$$, 1e3, 0x1F, 1_000

SELECT (jsonb_each(profile)).* FROM customers

SELECT max(price) - min(price) AS spread FROM products GROUP BY () HAVING max(price) > 0

SELECT NOT (id = 1 OR id = 2) AND true, id IS NULL, city NOTNULL FROM customers

SELECT normalize('é', NFC), 'é' IS NFC NORMALIZED, unistr('\0061')

SELECT CURRENT_CATALOG, CURRENT_SCHEMA, current_database(), current_schema(), current_schemas(true), version()

SELECT pg_typeof(1), pg_column_size('a'), pg_size_pretty(1024::bigint), pg_size_bytes('1 MB'), factorial(10), hashtext('a')

SELECT random(), random_normal(), gen_random_uuid(), uuidv7(), clock_timestamp(), array_shuffle(ARRAY[1, 2]) FROM customers ORDER BY random()

SELECT current_setting('server_version_num')::int, current_setting('TimeZone'), pg_catalog.current_setting('search_path', true)

SELECT repeat('-', 40), repeat(name, least(id, 10)), array_fill(0, ARRAY[10, 10]), array_fill('x'::text, ARRAY[3], ARRAY[0]) FROM customers

SELECT repeat('*', ntile(5) OVER (ORDER BY id)), repeat('.', width_bucket(id, 0, 10, 20)), lpad(name, greatest(length(name), 10)) FROM customers

SELECT format('%-20s %s', name, id), rpad(name, 30), lpad(id::text, 8, '0'), replace(name, 'a', 'bb') FROM customers

SELECT count(*) FROM generate_series(1, 1000) a CROSS JOIN generate_series(1, 1000) b

SELECT h FROM generate_series(timestamp '2024-01-01', timestamp '2024-12-31 23:00', interval '1 hour') AS h LIMIT 3

SELECT d FROM generate_series(current_date - 30, current_date, '1 day') AS d

WITH RECURSIVE r (n, s) AS (SELECT 1, 'x' UNION ALL SELECT n + 1, s || ',' || n::text FROM r WHERE n < 9) SELECT s FROM r

WITH RECURSIVE r (rest, word) AS (SELECT 'a,b,c,', '' UNION ALL SELECT regexp_replace(rest, '^[^,]*,', ''), split_part(rest, ',', 1) FROM r WHERE rest <> '') SELECT word FROM r

WITH pg_totals AS (SELECT 1 AS n), b AS (SELECT * FROM pg_totals) SELECT pg_totals.n FROM pg_totals, b

WITH pg_class AS (SELECT 7 AS relname) SELECT relname FROM pg_class
