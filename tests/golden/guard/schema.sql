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
-- What else a company keeps: types of its own, several schemas, names that look like the system's.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN email AS text CHECK (VALUE LIKE '%@%');
CREATE TYPE postal AS (street text, town text, zip text);
CREATE TYPE priceband AS RANGE (subtype = numeric);
CREATE TABLE contacts (
    id int PRIMARY KEY, customer_id int REFERENCES customers, mail email, feeling mood, home postal,
    previous postal[], band priceband
);
CREATE TABLE pg_accounts (id int PRIMARY KEY, owner text, balance numeric(12,2), opened date);
CREATE SCHEMA sales;
CREATE TYPE sales.stage AS ENUM ('lead', 'won', 'lost');
CREATE TABLE sales.deals (
    id int PRIMARY KEY, customer_id int REFERENCES customers, stage sales.stage NOT NULL, amount numeric(12,2),
    currency char(3), opened timestamptz NOT NULL, closed timestamptz, notes text
);
CREATE TABLE sales.targets (month date, region text, target numeric, PRIMARY KEY (month, region));
CREATE SCHEMA web;
CREATE TABLE web.events (
    id bigint PRIMARY KEY, visitor uuid, customer_id int, kind text, url text, at timestamptz NOT NULL,
    properties jsonb, took interval, ms int
);
CREATE TABLE web.pg_visits (day date, visits bigint);
CREATE SCHEMA hr;
CREATE TABLE hr.employees (
    id int PRIMARY KEY, name text, manager_id int, department text, salary numeric(10,2), hired date, left_on date,
    pg_level int
);
CREATE SCHEMA iot;
CREATE TABLE iot.readings (sensor int, at timestamptz, value float8, raw bytea, flags bit(8));
INSERT INTO contacts VALUES
    (1, 1, 'ada@example.org', 'happy', ROW('1 High St', 'London', 'N1'), ARRAY[ROW('2 Low St', 'Leeds', 'L1')::postal], '[1,5)'),
    (2, 2, 'bob@example.org', 'sad', ROW('3 Rue', 'Paris', '75001'), '{}', '[10,20]');
INSERT INTO pg_accounts VALUES (1, 'Ada', 10.50, '2020-01-01'), (2, 'Bob', -3, '2021-01-01');
INSERT INTO sales.deals VALUES
    (1, 1, 'won', 1000, 'EUR', '2021-01-03 09:00+00', '2021-02-01 09:00+00', 'first deal; good price'),
    (2, 1, 'lost', 500, 'USD', '2021-02-03 09:00+00', '2021-03-01 09:00+00', NULL),
    (3, 2, 'lead', 250.5, 'EUR', '2022-02-03 09:00+00', NULL, 'call back');
INSERT INTO sales.targets VALUES ('2021-01-01', 'north', 900), ('2021-02-01', 'north', 800);
INSERT INTO web.events VALUES
    (1, '6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b', 1, 'view', 'https://example.org/a?utm_source=mail', '2021-01-01 10:00+00', '{"page": {"name": "home"}, "tags": ["a", "b"]}', '5 minutes', 120),
    (2, '6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b', 1, 'buy', 'https://example.org/b', '2021-01-01 10:20+00', '{"amount": 12.5}', '1 minute', 80),
    (3, '7ec0bd7f-11c0-43da-975e-2a8ad9ebae0b', NULL, 'view', NULL, '2021-01-02 23:59+00', NULL, NULL, NULL);
INSERT INTO web.pg_visits VALUES ('2021-01-01', 2), ('2021-01-02', 1);
INSERT INTO hr.employees VALUES
    (1, 'Eve', NULL, 'board', 9000, '2015-01-01', NULL, 9), (2, 'Finn', 1, 'sales', 4000, '2018-06-01', NULL, 5),
    (3, 'Gus', 2, 'sales', 3000, '2020-03-01', '2021-09-30', 3);
INSERT INTO iot.readings VALUES (1, '2021-01-01 00:00+00', 20.5, '\x01ff', B'00000011'), (1, '2021-01-01 00:07+00', 21, NULL, NULL),
    (2, '2021-01-01 00:12+00', 'NaN', '\xcafe', B'10000000');
