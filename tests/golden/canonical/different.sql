-- Pairs that do not mean the same, however alike they look: `<>` separates the two. Pairs marked `-- seen` also
-- give different rows on the little shop.

-- seen
SELECT name FROM customers
<>
SELECT city FROM customers

-- seen
SELECT name FROM customers
<>
SELECT DISTINCT city FROM customers

-- seen
SELECT id, name FROM customers
<>
SELECT name, id FROM customers

-- seen
SELECT name FROM products ORDER BY price LIMIT 1
<>
SELECT name FROM products ORDER BY price LIMIT 2

-- seen
SELECT name FROM products ORDER BY price LIMIT 1
<>
SELECT name FROM products ORDER BY price OFFSET 1

-- seen
SELECT name FROM products ORDER BY price LIMIT 1
<>
SELECT name FROM products ORDER BY price DESC LIMIT 1

-- seen
SELECT name FROM products ORDER BY category DESC LIMIT 1
<>
SELECT name FROM products ORDER BY category DESC NULLS LAST LIMIT 1

SELECT name FROM products ORDER BY price FETCH FIRST 1 ROW WITH TIES
<>
SELECT name FROM products ORDER BY price FETCH FIRST 1 ROW ONLY

-- seen
SELECT category FROM products UNION SELECT category FROM products
<>
SELECT category FROM products UNION ALL SELECT category FROM products

-- seen
SELECT id FROM customers EXCEPT SELECT id FROM products
<>
SELECT id FROM products EXCEPT SELECT id FROM customers

-- seen
SELECT count(city) FROM customers
<>
SELECT count(*) FROM customers

-- seen
SELECT count(NULL) FROM customers
<>
SELECT count(*) FROM customers

-- seen
SELECT count(DISTINCT city) FROM customers
<>
SELECT count(city) FROM customers

-- seen
SELECT count(DISTINCT 1) FROM customers
<>
SELECT count(*) FROM customers

-- seen
SELECT name FROM customers WHERE id < 2
<>
SELECT name FROM customers WHERE 2 < id

-- seen
SELECT name FROM customers WHERE id < 2
<>
SELECT name FROM customers WHERE id <= 2

-- seen
SELECT price - 1 FROM products
<>
SELECT 1 - price FROM products

-- seen
SELECT name || 'x' FROM customers
<>
SELECT 'x' || name FROM customers

-- seen
SELECT c.name, o.id FROM customers c LEFT JOIN orders o ON c.id = o.customer_id
<>
SELECT c.name, o.id FROM customers c JOIN orders o ON c.id = o.customer_id

-- seen
SELECT c.name, o.id FROM customers c LEFT JOIN orders o ON c.id = o.customer_id AND o.status = 'paid'
<>
SELECT c.name, o.id FROM customers c LEFT JOIN orders o ON c.id = o.customer_id WHERE o.status = 'paid'

-- seen
SELECT o.id, c.name FROM customers c LEFT JOIN orders o ON c.id = o.customer_id
<>
SELECT o.id, c.name FROM orders o LEFT JOIN customers c ON c.id = o.customer_id

-- seen
SELECT a.name FROM customers a JOIN customers b ON a.referred_by = b.id
<>
SELECT b.name FROM customers a JOIN customers b ON a.referred_by = b.id

-- seen
SELECT a.id FROM customers a, customers b WHERE a.id < b.id
<>
SELECT b.id FROM customers a, customers b WHERE a.id < b.id

-- seen
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)
<>
SELECT name FROM customers c WHERE EXISTS (SELECT count(*) FROM orders o WHERE o.customer_id = c.id)

-- seen
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)
<>
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = o.id)

-- seen
SELECT name FROM customers WHERE id IN (1, 2)
<>
SELECT name FROM customers WHERE id NOT IN (1, 2)

-- seen
SELECT name FROM customers WHERE city = 'London' AND (id = 1 OR id = 3)
<>
SELECT name FROM customers WHERE (city = 'London' AND id = 1) OR id = 3

-- seen
SELECT city FROM customers WHERE city <> 'Paris'
<>
SELECT city FROM customers WHERE city IS DISTINCT FROM 'Paris'

-- seen
SELECT sum(quantity) FROM order_items
<>
SELECT avg(quantity) FROM order_items

-- seen
SELECT city, count(*) FROM customers GROUP BY city
<>
SELECT city, count(*) FROM customers GROUP BY city, country, id

-- seen
SELECT city, count(*) FROM customers GROUP BY ROLLUP (city)
<>
SELECT city, count(*) FROM customers GROUP BY city

-- seen
SELECT city FROM customers GROUP BY city HAVING count(*) > 1
<>
SELECT city FROM customers GROUP BY city HAVING count(*) >= 1

-- seen
SELECT upper(name) AS city FROM customers ORDER BY city
<>
SELECT upper(name) AS town FROM customers ORDER BY city DESC

-- seen
SELECT sum(id) OVER (ORDER BY id) FROM customers
<>
SELECT sum(id) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM customers

-- seen
SELECT string_agg(name, ',' ORDER BY name) FROM customers
<>
SELECT string_agg(name, ',' ORDER BY name DESC) FROM customers

-- seen
SELECT row_to_json(t) FROM (SELECT id AS a FROM customers) t
<>
SELECT row_to_json(t) FROM (SELECT id AS b FROM customers) t

-- seen
SELECT x FROM unnest(ARRAY[1, 2], ARRAY[3, 4]) AS u (x, y)
<>
SELECT x FROM unnest(ARRAY[1, 2], ARRAY[3, 4]) AS u (y, x)

-- seen
SELECT e.key FROM jsonb_each('{"a": 1}') AS e
<>
SELECT e.value FROM jsonb_each('{"a": 1}') AS e

-- seen
SELECT x FROM (SELECT id AS x, customer_id AS y FROM orders) t
<>
SELECT x FROM (SELECT id AS y, customer_id AS x FROM orders) t

-- seen
SELECT '1' || '1'
<>
SELECT 1 + 1

-- seen
SELECT name FROM customers WHERE joined >= '2021-01-01'
<>
SELECT name FROM customers WHERE joined >= '2021-07-02'

SELECT id FROM orders WHERE placed >= '2021-01-01'::date
<>
SELECT id FROM orders WHERE placed >= '2021-01-01'::timestamptz

-- seen
SELECT 1::numeric / 2
<>
SELECT 1 / 2

-- seen
SELECT "Id" FROM "Archive"."Old Orders"
<>
SELECT id FROM orders

-- seen
SELECT id FROM orders FULL JOIN (SELECT id + 2 AS id FROM customers) c USING (id)
<>
SELECT orders.id FROM orders FULL JOIN (SELECT id + 2 AS id FROM customers) c USING (id)

-- seen
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r
<>
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 4) SELECT n FROM r

SELECT a.id, b.id FROM (SELECT id FROM customers LIMIT 1) a, (SELECT id FROM customers LIMIT 1) b
<>
WITH c AS (SELECT id FROM customers LIMIT 1) SELECT a.id, b.id FROM c a, c b

-- seen
SELECT * FROM customers c, LATERAL (SELECT o.id FROM orders o WHERE o.customer_id = c.id) x
<>
SELECT * FROM customers c LEFT JOIN LATERAL (SELECT o.id FROM orders o WHERE o.customer_id = c.id) x ON true

-- seen
SELECT DISTINCT ON (city) city, name FROM customers ORDER BY city, name
<>
SELECT DISTINCT ON (city) city, name FROM customers ORDER BY city, name DESC

-- seen
SELECT name FROM customers WHERE NOT (city = 'London')
<>
SELECT name FROM customers WHERE city = 'London'

-- seen
SELECT name FROM customers WHERE name LIKE 'A%'
<>
SELECT name FROM customers WHERE name LIKE 'a%'

SELECT name FROM customers WHERE name LIKE 'A%'
<>
SELECT name FROM customers WHERE name ILIKE 'A%'
