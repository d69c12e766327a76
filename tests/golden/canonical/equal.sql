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

SELECT name FROM customers WHERE city = 'London' AND country = 'GB'
==
SELECT name FROM customers WHERE ((country = 'GB')) AND ('London' = city)

SELECT name FROM customers WHERE city <> 'Paris'
==
SELECT name FROM customers WHERE city != 'Paris'

SELECT name FROM products WHERE price >= 2
==
SELECT name FROM products WHERE 2 <= price

SELECT city, count(*) FROM customers GROUP BY city ORDER BY count(*) DESC, city
==
SELECT city AS c, count(*) AS n FROM customers GROUP BY 1 ORDER BY n DESC NULLS FIRST, c

SELECT city, country, count(*) FROM customers GROUP BY city, country
==
SELECT city, country, count(*) FROM customers GROUP BY country, city

SELECT upper(city) AS u, count(*) FROM customers GROUP BY u
==
SELECT upper(city), count(*) FROM customers GROUP BY upper(city)

SELECT name FROM customers WHERE NOT id IN (1, 2)
==
SELECT name FROM customers WHERE id NOT IN (2, 1)

SELECT * FROM products
==
SELECT p.id, p.name, p.category, p.price FROM products p

TABLE order_items
==
SELECT order_items.* FROM order_items

SELECT CAST(price AS int) FROM products
==
SELECT price::integer FROM products

SELECT ceil(price), pow(price, 2) FROM products
==
SELECT ceiling(price), power(price, 2) FROM products

SELECT id FROM orders WHERE placed < now()
==
SELECT id FROM orders WHERE CURRENT_TIMESTAMP > placed

SELECT DISTINCT city FROM customers c
==
SELECT DISTINCT customers.city AS town FROM customers

SELECT count(*) FILTER (WHERE city = 'London' AND id > 1) FROM customers
==
SELECT count(*) FILTER (WHERE 1 < id AND 'London' = city) FROM customers
