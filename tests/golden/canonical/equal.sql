-- Pairs that mean the same: blank lines separate pairs, `==` the two. Both are run and must give the same rows.

SELECT c.name FROM customers c
==
select "name" from public.customers  -- a comment

SELECT a.id, b.id FROM customers a JOIN orders b ON a.id = b.customer_id
==
SELECT x.id, y.id FROM customers AS x, orders y WHERE y.customer_id = x.id

SELECT c.name, o.id FROM customers c JOIN orders o ON o.customer_id = c.id
==
SELECT c.name, o.id FROM orders o JOIN customers c ON c.id = o.customer_id

SELECT o.id FROM orders o JOIN order_items i ON i.order_id = o.id JOIN products p ON p.id = i.product_id WHERE p.price > 1
==
SELECT o.id FROM products p CROSS JOIN orders o INNER JOIN order_items i ON p.id = i.product_id AND o.id = i.order_id WHERE 1 < p.price

SELECT name FROM customers WHERE city = 'London' AND country = 'GB'
==
SELECT name FROM customers WHERE ((country = 'GB')) AND ('London' = city)

SELECT name FROM customers WHERE city = 'London' OR country = 'FR' OR id = 3
==
SELECT name FROM customers WHERE id = 3 OR (country = 'FR' OR city = 'London')

SELECT name FROM customers WHERE city <> 'Paris'
==
SELECT name FROM customers WHERE city != 'Paris'

SELECT name FROM products WHERE price >= 2
==
SELECT name FROM products WHERE 2 <= price

SELECT count(*) FROM customers
==
SELECT count(1) AS total FROM customers

SELECT city, count(*) FROM customers GROUP BY city ORDER BY count(*) DESC, city
==
SELECT city AS c, count(*) AS n FROM customers GROUP BY 1 ORDER BY n DESC NULLS FIRST, c

SELECT city, country, count(*) FROM customers GROUP BY city, country
==
SELECT city, country, count(*) FROM customers GROUP BY country, city

SELECT upper(city) AS u, count(*) FROM customers GROUP BY u
==
SELECT upper(city), count(*) FROM customers GROUP BY upper(city)

SELECT name FROM customers ORDER BY joined
==
SELECT name FROM customers ORDER BY customers.joined ASC NULLS LAST

SELECT name FROM products ORDER BY price DESC LIMIT 1
==
SELECT name FROM products ORDER BY price DESC FETCH FIRST 1 ROW ONLY

SELECT name FROM products ORDER BY price LIMIT ALL OFFSET 0
==
SELECT name FROM products ORDER BY price

SELECT name FROM customers WHERE id BETWEEN 2 AND 3
==
SELECT name FROM customers WHERE id >= 2 AND id <= 3

SELECT name FROM customers WHERE id NOT BETWEEN 2 AND 3
==
SELECT name FROM customers WHERE id < 2 OR 3 < id

SELECT name FROM customers WHERE id IN (3, 1, 2)
==
SELECT name FROM customers WHERE id IN (1, 2, 3, 3)

SELECT name FROM customers WHERE city IN ('Paris')
==
SELECT name FROM customers WHERE city = 'Paris'

SELECT name FROM customers WHERE NOT id IN (1, 2)
==
SELECT name FROM customers WHERE id NOT IN (2, 1)

SELECT name FROM customers WHERE name NOT LIKE 'A%'
==
SELECT name FROM customers WHERE NOT (name LIKE 'A%')

SELECT name FROM customers WHERE id IN (SELECT customer_id FROM orders)
==
SELECT name FROM customers c WHERE c.id = ANY (SELECT o.customer_id FROM orders o)

SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)
==
SELECT name FROM customers x WHERE EXISTS (SELECT * FROM orders y WHERE x.id = y.customer_id)

SELECT name FROM customers WHERE joined >= '2021-01-01'
==
SELECT name FROM customers WHERE joined >= DATE '2021-01-01'

SELECT id FROM orders WHERE placed < '2021-03-06 00:00Z'::timestamptz
==
SELECT id FROM orders WHERE placed < '2021-03-06 00:00Z'

WITH t AS (SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id) SELECT n FROM t WHERE n > 1
==
SELECT s.orders FROM (SELECT customer_id AS c, count(*) AS orders FROM orders GROUP BY 1) AS s WHERE s.orders > 1

WITH a AS (SELECT id FROM customers), b AS MATERIALIZED (SELECT id FROM a) SELECT id FROM b
==
WITH unused AS (SELECT 1), y AS (SELECT id AS k FROM customers), z (w) AS (SELECT k FROM y) SELECT w FROM z

SELECT c.name, o.id FROM customers c LEFT JOIN orders o ON c.id = o.customer_id
==
SELECT c.name, o.id FROM orders o RIGHT OUTER JOIN customers c ON o.customer_id = c.id

SELECT id, name FROM customers
==
SELECT c.id, (c.name) FROM customers AS c WHERE true

SELECT * FROM products
==
SELECT p.id, p.name, p.category, p.price FROM products p

TABLE order_items
==
SELECT order_items.* FROM order_items

SELECT a.name FROM customers a JOIN customers b ON a.referred_by = b.id WHERE b.city = 'London'
==
SELECT c.name FROM customers r, customers c WHERE c.referred_by = r.id AND r.city = 'London'

SELECT id FROM customers UNION SELECT id FROM products
==
SELECT id FROM products UNION SELECT id FROM customers

SELECT name FROM customers UNION ALL SELECT name FROM products ORDER BY 1
==
SELECT name AS n FROM products UNION ALL SELECT name FROM customers ORDER BY n

SELECT price * 2 + 1 FROM products
==
SELECT 1 + 2 * price FROM products

SELECT CAST(price AS int) FROM products
==
SELECT price::integer FROM products

SELECT ceil(price), pow(price, 2) FROM products
==
SELECT ceiling(price), power(price, 2) FROM products

SELECT name, sum(price) OVER w FROM products WINDOW w AS (PARTITION BY category ORDER BY id)
==
SELECT name, sum(price) OVER (PARTITION BY category ORDER BY id ASC) FROM products

SELECT id FROM orders WHERE placed < now()
==
SELECT id FROM orders WHERE CURRENT_TIMESTAMP > placed

SELECT o.id FROM orders o JOIN (SELECT id AS customer_id FROM customers) c USING (customer_id)
==
SELECT o.id FROM orders o JOIN (SELECT id AS k FROM customers) c ON c.k = o.customer_id

SELECT DISTINCT city FROM customers c
==
SELECT DISTINCT customers.city AS town FROM customers

SELECT DISTINCT ON (c.city) c.city, c.name FROM customers c ORDER BY c.city, c.name
==
SELECT DISTINCT ON (city) city, name FROM customers ORDER BY 1, 2

SELECT count(*) FILTER (WHERE city = 'London' AND id > 1) FROM customers
==
SELECT count(*) FILTER (WHERE 1 < id AND 'London' = city) FROM customers

SELECT day::date FROM generate_series(DATE '2021-01-01', DATE '2021-01-03', INTERVAL '1 day') AS day
==
SELECT g.d::date FROM generate_series(DATE '2021-01-01', DATE '2021-01-03', INTERVAL '1 day') AS g (d)

WITH RECURSIVE r AS (SELECT id FROM customers WHERE referred_by IS NULL UNION ALL SELECT c.id FROM r JOIN customers c ON c.referred_by = r.id) SELECT id FROM r
==
WITH RECURSIVE tree (k) AS (SELECT x.id FROM customers x WHERE x.referred_by IS NULL UNION ALL SELECT y.id FROM customers y, tree t WHERE t.k = y.referred_by) SELECT k FROM tree

SELECT name FROM customers WHERE city IS NOT DISTINCT FROM country
==
SELECT name FROM customers WHERE NOT (country IS DISTINCT FROM city)

SELECT extract(year FROM placed) AS y, count(*) FROM orders GROUP BY y
==
SELECT EXTRACT(YEAR FROM o.placed), COUNT(1) FROM orders o GROUP BY 1
