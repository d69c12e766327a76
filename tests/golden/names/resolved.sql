-- Statements whose names all stand for something; PostgreSQL is asked which columns each reads.

SELECT NAME, "name", Customers.Name, public.customers.name FROM CUSTOMERS

SELECT c.id FROM customers c WHERE c.city = (SELECT max(status) FROM orders o WHERE o.customer_id = c.id)

SELECT count(*) FROM orders

SELECT count(c) FROM customers c

SELECT c FROM customers AS c (a, b)

SELECT a, b, country FROM customers AS c (a, b)

SELECT t.x FROM (SELECT id AS x, name AS y FROM customers) AS t

SELECT t.b FROM (SELECT id, name FROM customers) AS t (a, b)

SELECT * FROM orders JOIN customers ON customers.id = customer_id

SELECT o.* FROM orders o, customers c

SELECT id, customer_id FROM orders NATURAL JOIN (SELECT id, name FROM customers) c

SELECT a.id, b.id, id FROM customers a JOIN orders b USING (id)

SELECT city, u.id FROM customers a JOIN orders b USING (id) AS u

SELECT j.id, j.status FROM (customers a JOIN orders b USING (id)) AS j

SELECT id FROM orders o FULL JOIN (SELECT id FROM products) p USING (id) ORDER BY o.id

SELECT placed AS name FROM orders ORDER BY name

SELECT name AS city FROM customers GROUP BY city, name

SELECT upper(city) AS c FROM customers GROUP BY c

SELECT city, count(*) AS n FROM customers GROUP BY 1 ORDER BY 2 DESC, n

SELECT date_trunc('month', placed) AS month, count(*) FROM orders GROUP BY month HAVING count(*) > 1 ORDER BY month

SELECT city, country FROM customers GROUP BY GROUPING SETS ((city, country), (1), ())

SELECT DISTINCT ON (who) customer_id AS who, placed FROM orders ORDER BY who, placed

SELECT id AS x FROM customers UNION SELECT customer_id FROM orders ORDER BY x

WITH c AS (SELECT id FROM customers) SELECT id FROM c WHERE id IN (SELECT c.id FROM c)

WITH c AS (SELECT id FROM customers), d AS (SELECT id AS d_id FROM c) SELECT d_id FROM d

WITH customers AS (SELECT id AS sole FROM customers) SELECT sole FROM customers

WITH c (a) AS (SELECT id, name FROM customers) SELECT a, name FROM c

WITH RECURSIVE r AS (SELECT id, name FROM customers WHERE referred_by IS NULL UNION ALL SELECT c.id, c.name FROM r JOIN customers c ON c.referred_by = r.id) SELECT name FROM r

WITH RECURSIVE later AS (SELECT id FROM first), first AS (SELECT id FROM customers) SELECT id FROM later

SELECT (WITH x AS (SELECT c.id + 1 AS n) SELECT n FROM x) FROM customers c

SELECT name FROM customers c WHERE EXISTS (SELECT FROM orders WHERE customer_id = c.id AND status = 'paid')

SELECT name FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE name IS NOT NULL)

SELECT x.n FROM customers c, LATERAL (SELECT count(*) AS n FROM orders o WHERE o.customer_id = c.id) x

SELECT s.day, count(o.id) FROM generate_series(DATE '2021-01-01', DATE '2021-01-03', '1 day') AS s (day) LEFT JOIN orders o ON o.placed::date = s.day GROUP BY s.day

SELECT day FROM generate_series(DATE '2021-01-01', DATE '2021-01-03', '1 day') AS day

SELECT c.name, tag FROM customers c CROSS JOIN unnest(c.tags) AS tag

SELECT v.a, b FROM (VALUES (1, 'x')) AS v (a, b)

SELECT column1, column2 FROM (VALUES (1, 'x')) AS v

SELECT key FROM customers, jsonb_each(profile)

SELECT r.a, b FROM json_to_recordset('[]') AS r (a int, b text)

SELECT "Total" FROM "Archive"."Old Orders" o ORDER BY o."Id"

SELECT sum(quantity) OVER w FROM order_items WINDOW w AS (PARTITION BY product_id ORDER BY order_id)

SELECT a.id FROM customers a JOIN customers b ON a.referred_by = b.id LEFT JOIN orders o ON o.customer_id = b.id

SELECT o.id FROM orders o JOIN (order_items i JOIN products p ON p.id = i.product_id) ON i.order_id = o.id

SELECT "?column?", "case", upper FROM (SELECT 1, CASE WHEN true THEN 1 END, upper(name) FROM customers) t

SELECT ordered.name FROM (SELECT name FROM customers ORDER BY joined LIMIT 3) ordered

TABLE order_items

SELECT customers.tags[1] FROM customers

SELECT JSON_VALUE(profile, '$.age') FROM customers c

SELECT jt.pet FROM customers c, JSON_TABLE(c.profile, '$.pets[*]' COLUMNS (pet text PATH '$')) jt
