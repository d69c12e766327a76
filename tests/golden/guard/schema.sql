-- The little shop that the golden statements are about.
CREATE TABLE customers (
    id int PRIMARY KEY, name text NOT NULL, city text, country char(2), joined date NOT NULL, referred_by int,
    tags text[], profile jsonb
);
CREATE TABLE products (id int PRIMARY KEY, name text NOT NULL, category text, price numeric(10,2) NOT NULL);
CREATE TABLE orders (
    id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customers, placed timestamptz NOT NULL, status text
);
CREATE TABLE order_items (
    order_id int REFERENCES orders, product_id int REFERENCES products, quantity int NOT NULL,
    PRIMARY KEY (order_id, product_id)
);
CREATE TABLE bookings (room int, during tstzrange, address inet, spot point, body tsvector);
CREATE SCHEMA "Archive";
CREATE TABLE "Archive"."Old Orders" ("Id" int, "Total" float8);
INSERT INTO customers VALUES
    (1, 'Ada', 'London', 'GB', '2020-01-05', NULL, '{vip,early}', '{"age": 36, "pets": ["cat", "dog"]}'),
    (2, 'Bob', 'Paris', 'FR', '2020-02-10', 1, '{}', '{"age": 41}'),
    (3, 'Cyd', NULL, NULL, '2021-07-01', 1, NULL, NULL),
    (4, 'Dan', 'London', 'GB', '2021-08-15', 2, '{vip}', '{"pets": []}');
INSERT INTO products VALUES (1, 'Pen', 'office', 1.20), (2, 'Desk', 'furniture', 250), (3, 'Lamp', NULL, 39.90);
INSERT INTO orders VALUES
    (1, 1, '2021-01-01 10:00+00', 'paid'), (2, 1, '2021-03-05 12:30+00', 'open'),
    (3, 2, '2021-03-06 08:00+00', 'paid'), (4, 4, '2022-02-02 22:00+00', NULL);
INSERT INTO order_items VALUES (1, 1, 10), (1, 2, 1), (2, 3, 2), (3, 1, 5), (4, 2, 1);
INSERT INTO bookings VALUES
    (1, '[2021-01-01 10:00+00,2021-01-01 12:00+00)', '10.0.0.1', '(1,2)', to_tsvector('english', 'a quiet room'));
INSERT INTO "Archive"."Old Orders" VALUES (1, 9.5);
