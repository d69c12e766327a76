-- Statements with a wrong name: `-- SQLSTATE of PostgreSQL's own error: the message`.

-- 42P01: table costumers does not exist; did you mean customers?
SELECT * FROM costumers

-- 42P01: table "Customers" does not exist; did you mean customers?
SELECT * FROM "Customers"

-- 42P01: table shop.customers does not exist; did you mean customers?
SELECT * FROM shop.customers

-- 42P01: table old_orders does not exist
SELECT * FROM old_orders

-- 42P01: table "Old Orders" does not exist; did you mean "Archive"."Old Orders"?
SELECT * FROM "Old Orders"

-- 42P01: table later does not exist
WITH first AS (SELECT id FROM later), later AS (SELECT id FROM customers) SELECT id FROM first

-- 42703: column nam does not exist here; did you mean customers.name?
SELECT nam FROM customers

-- 42703: column c.nam does not exist here; did you mean c.name?
SELECT c.nam FROM customers c

-- 42703: column price does not exist here; there is products.price, whose table is not in FROM
SELECT price FROM order_items

-- 42703: column i.price does not exist here; there is products.price, whose table is not in FROM
SELECT i.price FROM order_items i

-- 42703: column "Name" does not exist here; did you mean customers.name?
SELECT "Name" FROM customers

-- 42703: column total does not exist here: an output name is visible only to ORDER BY and GROUP BY, repeat the expression
SELECT price * 2 AS total FROM products WHERE total > 5

-- 42703: column n does not exist here: an output name
SELECT city, count(*) AS n FROM customers GROUP BY city HAVING n > 1

-- 42703: column t.city does not exist here
SELECT t.city FROM (SELECT name FROM customers) t

-- 42703: column name does not exist here
WITH c (a, b) AS (SELECT id, name FROM customers) SELECT name FROM c

-- 42703: column "Name" does not exist here; did you mean name?
SELECT name FROM customers UNION SELECT name FROM products ORDER BY "Name"

-- 42703: column city does not exist here
SELECT 1 FROM orders JOIN order_items USING (city)

-- 42703: column missing does not exist here
SELECT (SELECT missing FROM orders) FROM customers

-- 42702: column id is ambiguous: write c.id or o.id
SELECT id FROM customers c JOIN orders o ON o.customer_id = c.id

-- 42702: column name is ambiguous
SELECT 1 FROM customers, products ORDER BY name

-- 42702: column id is ambiguous: give the columns that it may mean different names with AS
SELECT id FROM (SELECT c.id, o.id FROM customers c, orders o) t

-- 42702: column id is ambiguous: give the columns that it may mean different names with AS
SELECT t.id FROM (SELECT c.id, o.id FROM customers c, orders o) t

-- 42702: column id is ambiguous: write p.id
SELECT id FROM (SELECT c.id, o.id FROM customers c, orders o) t, products p

-- 42702: column id is ambiguous: write a.id or b.id
SELECT id FROM customers a JOIN customers b USING (city)

-- 42702: column id is ambiguous: write b.id or p.id
SELECT id FROM customers a RIGHT JOIN customers b USING (id), products p

-- 42P01: products is not in FROM
SELECT products.price FROM orders

-- 42P01: customers is not in FROM under this name: it is called c there
SELECT customers.name FROM customers c

-- 42P01: ordr is not in FROM; did you mean ord?
SELECT ordr.id FROM orders ord

-- 42P01: c is not in FROM
SELECT x.n FROM customers c, (SELECT count(*) AS n FROM orders o WHERE o.customer_id = c.id) x

-- 42P01: b is not in FROM
SELECT 1 FROM customers a JOIN orders o ON o.customer_id = b.id, customers b

-- 42P01: a is not in FROM
SELECT a.id FROM (customers a JOIN orders b USING (id)) AS j

-- 42P01: public.customers is not in FROM under this name: it is called c there
SELECT public.customers.id FROM customers c

-- 42P01: x is not in FROM
SELECT x.* FROM customers

-- 42712: name customers is given twice in FROM
SELECT 1 FROM customers, customers

-- 42712: name x is given twice in FROM
SELECT 1 FROM customers x JOIN orders x ON true

-- 42P10: there is no output column 3: the query gives 2
SELECT id, name FROM customers ORDER BY 3

-- 42P10: there is no output column 0
SELECT city FROM customers GROUP BY 0
