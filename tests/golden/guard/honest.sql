-- What analysts write and what BI tools emit, over the tables of schema.sql. Written before the guard was asked about any of it. Blank lines separate them.

-- Metabase: question
SELECT "public"."orders"."id" AS "id", "public"."orders"."customer_id" AS "customer_id", "public"."orders"."placed" AS "placed", "public"."orders"."status" AS "status" FROM "public"."orders" LIMIT 2000

-- Metabase: by month
SELECT CAST(DATE_TRUNC('month', "public"."orders"."placed") AS DATE) AS "placed", COUNT(*) AS "count" FROM "public"."orders" GROUP BY CAST(DATE_TRUNC('month', "public"."orders"."placed") AS DATE) ORDER BY CAST(DATE_TRUNC('month', "public"."orders"."placed") AS DATE) ASC

-- Metabase: weeks start on Sunday
SELECT (CAST(DATE_TRUNC('week', (CAST("public"."orders"."placed" AS timestamp) + INTERVAL '1 day')) AS timestamp) + INTERVAL '-1 day') AS "placed", COUNT(*) AS "count" FROM "public"."orders" GROUP BY 1 ORDER BY 1 ASC

-- Metabase: the last thirty days
SELECT COUNT(*) AS "count" FROM "sales"."deals" WHERE ("sales"."deals"."opened" >= CAST(CAST((NOW() + INTERVAL '-30 day') AS date) AS timestamptz)) AND ("sales"."deals"."opened" < CAST(CAST(NOW() AS date) AS timestamptz))

-- Metabase: a filter on an enum
SELECT "sales"."deals"."id" AS "id" FROM "sales"."deals" WHERE "sales"."deals"."stage" = CAST('won' AS "sales"."stage") LIMIT 2000

-- Metabase: nested question
SELECT "source"."status" AS "status", "source"."count" AS "count" FROM (SELECT "public"."orders"."status" AS "status", COUNT(*) AS "count" FROM "public"."orders" GROUP BY "public"."orders"."status") AS "source" WHERE "source"."count" > 1 LIMIT 1048575

-- Metabase: join
SELECT "Customers"."city" AS "Customers__city", SUM("public"."products"."price") AS "sum" FROM "public"."order_items" LEFT JOIN "public"."products" ON "public"."order_items"."product_id" = "public"."products"."id" LEFT JOIN "public"."orders" AS "Orders" ON "public"."order_items"."order_id" = "Orders"."id" LEFT JOIN "public"."customers" AS "Customers" ON "Orders"."customer_id" = "Customers"."id" GROUP BY "Customers"."city" ORDER BY "sum" DESC, "Customers"."city" ASC

-- Metabase: bins of a number
SELECT (FLOOR(("public"."products"."price" / 25.0)) * 25.0) AS "price", COUNT(*) AS "count" FROM "public"."products" GROUP BY (FLOOR(("public"."products"."price" / 25.0)) * 25.0) ORDER BY 1 ASC

-- Metabase: day of week
SELECT (CAST(extract(dow from "public"."orders"."placed") AS integer) + 1) AS "placed", count(*) AS "count" FROM "public"."orders" GROUP BY 1 ORDER BY 1

-- Metabase: cumulative count
SELECT "placed", SUM("count") OVER (ORDER BY "placed" ASC ROWS UNBOUNDED PRECEDING) AS "cumulative" FROM (SELECT DATE_TRUNC('month', "placed") AS "placed", COUNT(*) AS "count" FROM "public"."orders" GROUP BY 1) AS "s"

-- Metabase: text contains
SELECT "public"."customers"."name" FROM "public"."customers" WHERE (LOWER("public"."customers"."name") LIKE '%a%') AND (("public"."customers"."city" <> '') OR ("public"."customers"."city" IS NULL))

-- Metabase: JSON unfolding
SELECT ("web"."events"."properties"#>> ARRAY['page', 'name']::text[])::text AS "page", COUNT(*) FROM "web"."events" GROUP BY 1

-- Metabase: field values for a filter
SELECT "public"."customers"."city" AS "city" FROM "public"."customers" GROUP BY "public"."customers"."city" ORDER BY "public"."customers"."city" ASC LIMIT 1000

-- Metabase: sample for fingerprints
SELECT SUBSTRING("public"."customers"."name", 1, 1234) AS "substring100", "public"."customers"."joined" FROM "public"."customers" LIMIT 10000

-- Metabase: time zone
SELECT date_trunc('day', timezone('Europe/Berlin', "web"."events"."at")) AS "at", count(*) FROM "web"."events" GROUP BY 1

-- Metabase: relative difference of dates
SELECT CAST(extract(day from ("sales"."deals"."closed" - "sales"."deals"."opened")) AS integer) AS "days" FROM "sales"."deals"

-- Metabase: percentile
SELECT PERCENTILE_CONT(0.9) within group (order by "web"."events"."ms") AS "p90" FROM "web"."events"

-- Metabase: distinct values of an expression
SELECT COUNT(DISTINCT CASE WHEN "public"."orders"."status" = 'paid' THEN "public"."orders"."customer_id" ELSE NULL END) AS "buyers" FROM "public"."orders"

-- Superset: time series
SELECT DATE_TRUNC('day', placed) AS __timestamp, status AS status, COUNT(*) AS count FROM public.orders WHERE placed >= TO_TIMESTAMP('2021-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND placed < TO_TIMESTAMP('2022-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('day', placed), status ORDER BY count DESC LIMIT 10000

-- Superset: a date column
SELECT DATE_TRUNC('week', joined) AS joined, COUNT(DISTINCT city) AS "COUNT_DISTINCT(city)" FROM public.customers WHERE joined >= TO_DATE('2020-01-01', 'YYYY-MM-DD') GROUP BY 1

-- Superset: top series by inner join
SELECT DATE_TRUNC('month', at) AS __timestamp, events.kind AS kind, sum(ms) AS "SUM(ms)" FROM web.events JOIN (SELECT kind AS kind__, sum(ms) AS mme_inner__ FROM web.events GROUP BY kind ORDER BY mme_inner__ DESC LIMIT 5) AS anon_1 ON kind = kind__ GROUP BY DATE_TRUNC('month', at), kind ORDER BY "SUM(ms)" DESC LIMIT 10000

-- Superset: virtual dataset
SELECT city AS city, sum(n) AS "SUM(n)" FROM (select c.city, count(*) as n from customers c join orders o on o.customer_id = c.id group by 1) AS virtual_table GROUP BY city ORDER BY "SUM(n)" DESC LIMIT 100

-- Superset: epoch column
SELECT DATE_TRUNC('hour', (timestamp 'epoch' + ms * interval '1 second')) AS __timestamp, COUNT(*) FROM web.events GROUP BY 1

-- Superset: five minutes
SELECT DATE_TRUNC('minute', at) - CAST(DATE_PART('minute', at)::int % 5 || ' minutes' AS interval) AS t, avg(value) FROM iot.readings GROUP BY 1

-- Superset: box plot
SELECT sensor, percentile_cont(0.25) WITHIN GROUP (ORDER BY value) AS q1, percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS median, percentile_cont(0.75) WITHIN GROUP (ORDER BY value) AS q3 FROM iot.readings WHERE value <> 'NaN' GROUP BY sensor

-- Superset: row count of a query
SELECT COUNT(*) AS rowcount FROM (SELECT id FROM public.customers WHERE city IN ('London', 'Paris')) AS rowcount_qry LIMIT 50000

-- Superset: samples
SELECT * FROM public.products TABLESAMPLE SYSTEM (10) LIMIT 1000

-- Superset: percent of total
SELECT status, count(*) * 1.0 / sum(count(*)) OVER () AS share FROM orders GROUP BY status

-- Tableau: measure by dimension
SELECT "customers"."city" AS "city", SUM(1) AS "cnt:customers:ok" FROM "public"."customers" "customers" GROUP BY 1

-- Tableau: years
SELECT CAST(TRUNC(EXTRACT(YEAR FROM "orders"."placed")) AS INTEGER) AS "yr:placed:ok", COUNT(DISTINCT "orders"."customer_id") AS "ctd:customer_id:ok" FROM "public"."orders" "orders" GROUP BY 1

-- Tableau: text casts
SELECT CAST("customers"."name" AS TEXT) AS "name", CAST("customers"."country" AS TEXT) AS "country" FROM "public"."customers" "customers" WHERE ((CAST("customers"."country" AS TEXT) = 'GB') AND (NOT ("customers"."city" IS NULL))) GROUP BY 1, 2

-- Tableau: quarter
SELECT DATE_TRUNC( 'QUARTER', CAST("orders"."placed" AS DATE) ) AS "tqr:placed:ok", SUM(CAST(1 AS BIGINT)) AS "x__alias__0" FROM "public"."orders" "orders" GROUP BY 1

-- Tableau: level of detail
SELECT "t0"."city" AS "city", AVG("t0"."__measure__0") AS "avg:n:ok" FROM ( SELECT "customers"."city" AS "city", "customers"."id" AS "id", COUNT("orders"."id") AS "__measure__0" FROM "public"."customers" "customers" LEFT JOIN "public"."orders" "orders" ON ("customers"."id" = "orders"."customer_id") GROUP BY 1, 2 ) "t0" GROUP BY 1 HAVING (COUNT(1) > 0)

-- Tableau: weeks
SELECT CAST((DATE_TRUNC( 'DAY', CAST("orders"."placed" AS DATE) ) + (-EXTRACT(DOW FROM "orders"."placed") * INTERVAL '1 DAY')) AS DATE) AS "twk:placed:ok", SUM(1) AS "n" FROM "public"."orders" "orders" GROUP BY 1

-- Tableau: calculated field
SELECT (CASE WHEN ("products"."price" >= 100) THEN 'A' WHEN NOT ("products"."price" >= 100) THEN 'B' ELSE CAST(NULL AS TEXT) END) AS "Calculation_1", SUM("products"."price") AS "sum:price:ok" FROM "public"."products" "products" GROUP BY 1

-- Tableau: string functions
SELECT LEFT(CAST("customers"."name" AS TEXT), 3) AS a, POSITION('d' IN CAST("customers"."name" AS TEXT)) AS b, UPPER(LTRIM(RTRIM("customers"."city"))) AS c, SPLIT_PART("customers"."name", ' ', 1) AS d FROM "public"."customers" "customers"

-- Tableau: a check that temporary tables and types work
SELECT "x"."a" AS "a", ("x"."a" IS NULL) AS "b" FROM (SELECT CAST('2020-02-01' AS TIMESTAMP) AS "a") "x" LIMIT 1

-- Tableau: domain of a filter
SELECT "deals"."stage" AS "stage" FROM "sales"."deals" "deals" GROUP BY 1 ORDER BY 1 ASC NULLS FIRST

-- Power BI: folded group
select "_"."city" as "c2", "_"."a0" as "a0" from ( select "rows"."city" as "city", count(distinct "rows"."id") as "a0" from ( select "$Table"."id" as "id", "$Table"."city" as "city" from "public"."customers" "$Table" ) "rows" group by "city" ) "_" where not "_"."a0" is null limit 1000001

-- Power BI: preview
select "$Table"."id" as "id", "$Table"."customer_id" as "customer_id", "$Table"."placed" as "placed" from "public"."orders" "$Table" limit 1000

-- Power BI: filter on dates
select count(1) as "$Item" from ( select "_"."id" from "public"."orders" "_" where "_"."placed" >= timestamp '2021-01-01 00:00:00' and "_"."placed" < timestamp '2022-01-01 00:00:00' ) "rows"

-- Power BI: join
select "$Outer"."id" as "basetable0.c1", "$Inner"."name" as "semijoin1.c1" from "public"."orders" as "$Outer" left outer join "public"."customers" as "$Inner" on ("$Outer"."customer_id" = "$Inner"."id") where "$Outer"."status" is not null and "$Outer"."status" = 'paid'

-- Power BI: row numbers
select "_"."id", "_"."name" from ( select "_"."id", "_"."name", row_number() over (order by "_"."name" nulls first, "_"."id") as "rn" from "public"."customers" "_" ) "_" where "_"."rn" <= 501

-- Looker: explore
SELECT customers.city AS "customers.city", COUNT(DISTINCT customers.id ) AS "customers.count", COALESCE(SUM(order_items.quantity ), 0) AS "order_items.total" FROM public.order_items AS order_items LEFT JOIN public.orders AS orders ON order_items.order_id = orders.id LEFT JOIN public.customers AS customers ON orders.customer_id = customers.id GROUP BY 1 ORDER BY 2 DESC FETCH NEXT 500 ROWS ONLY

-- Looker: symmetric aggregate
SELECT COALESCE(COALESCE(CAST( ( SUM(DISTINCT (CAST(FLOOR(COALESCE( products.price ,0)*(1000000*1.0)) AS DECIMAL(65,0))) + ('x' || MD5( products.id ::varchar))::bit(64)::bigint::DECIMAL(65) *18446744073709551616 + ('x' || SUBSTR(MD5( products.id ::varchar),17))::bit(64)::bigint::DECIMAL(65) ) - SUM(DISTINCT ('x' || MD5( products.id ::varchar))::bit(64)::bigint::DECIMAL(65) *18446744073709551616 + ('x' || SUBSTR(MD5( products.id ::varchar),17))::bit(64)::bigint::DECIMAL(65)) ) AS DOUBLE PRECISION) / CAST((1000000*1.0) AS DOUBLE PRECISION), 0), 0) AS "products.total_price" FROM order_items LEFT JOIN products ON order_items.product_id = products.id

-- Looker: date filter
SELECT (TO_CHAR(DATE_TRUNC('month', orders.placed ), 'YYYY-MM')) AS "orders.month", COUNT(*) AS "orders.count" FROM public.orders AS orders WHERE ((( orders.placed ) >= ((SELECT (DATE_TRUNC('month', DATE_TRUNC('day', CURRENT_TIMESTAMP AT TIME ZONE 'UTC')) + (-5 || ' month')::INTERVAL))) AND ( orders.placed ) < ((SELECT ((DATE_TRUNC('month', DATE_TRUNC('day', CURRENT_TIMESTAMP AT TIME ZONE 'UTC')) + (-5 || ' month')::INTERVAL) + (6 || ' month')::INTERVAL))))) GROUP BY 1 ORDER BY 1 DESC FETCH NEXT 500 ROWS ONLY

-- Looker: tiers
SELECT CASE WHEN products.price < 10 THEN 'Below 10' WHEN products.price >= 10 AND products.price < 100 THEN '10 to 99' WHEN products.price >= 100 THEN '100 or Above' ELSE 'Undefined' END AS "products.price_tier", COUNT(*) FROM products GROUP BY 1

-- Looker: yesno and row totals
SELECT CASE WHEN (orders.status = 'paid') THEN 'Yes' ELSE 'No' END AS "orders.is_paid", COUNT(*) AS "orders.count" FROM orders GROUP BY (orders.status = 'paid')

-- Looker: pivot with rank of columns
SELECT * FROM ( SELECT *, DENSE_RANK() OVER (ORDER BY z___min_rank) as z___pivot_row_rank, RANK() OVER (PARTITION BY z__pivot_col_rank ORDER BY z___min_rank) as z__pivot_col_ordering FROM ( SELECT *, MIN(z___rank) OVER (PARTITION BY "customers.city") as z___min_rank FROM ( SELECT *, RANK() OVER (ORDER BY "customers.city" ASC, z__pivot_col_rank) AS z___rank FROM ( SELECT *, DENSE_RANK() OVER (ORDER BY "orders.status" NULLS LAST) AS z__pivot_col_rank FROM ( SELECT customers.city AS "customers.city", orders.status AS "orders.status", COUNT(*) AS "orders.count" FROM orders LEFT JOIN customers ON orders.customer_id = customers.id GROUP BY 1,2) ww ) bb WHERE z__pivot_col_rank <= 16384 ) aa ) xx ) zz WHERE (z__pivot_col_rank <= 50 OR z__pivot_col_ordering = 1) AND (z___pivot_row_rank <= 500 OR z__pivot_col_ordering = 1) ORDER BY z___pivot_row_rank

-- Grafana: time group
SELECT floor(extract(epoch from at)/300)*300 AS "time", avg(value) AS "value" FROM iot.readings WHERE at BETWEEN '2021-01-01T00:00:00Z' AND '2021-01-02T00:00:00Z' GROUP BY 1 ORDER BY 1

-- Grafana: series
SELECT at AS "time", sensor::text AS metric, value FROM iot.readings WHERE extract(epoch from at) BETWEEN 1609459200 AND 1609545600 ORDER BY 1

-- Grafana: to_timestamp
SELECT date_trunc('minute', at) AS time, count(*) FROM web.events WHERE at > to_timestamp(1609459200) AND at < to_timestamp(1609545600) GROUP BY time ORDER BY time

-- Grafana: gaps filled
SELECT t.bucket AS time, coalesce(avg(r.value), 0) FROM generate_series('2021-01-01 00:00+00'::timestamptz, '2021-01-01 01:00+00'::timestamptz, '5 minutes'::interval) AS t(bucket) LEFT JOIN iot.readings r ON r.at >= t.bucket AND r.at < t.bucket + interval '5 minutes' GROUP BY 1 ORDER BY 1

-- Grafana: a variable's values
SELECT DISTINCT sensor AS __value, 'Sensor ' || sensor AS __text FROM iot.readings ORDER BY 1

-- Grafana: rate
SELECT at AS time, (value - lag(value) OVER w) / nullif(extract(epoch FROM at - lag(at) OVER w), 0) AS rate FROM iot.readings WINDOW w AS (PARTITION BY sensor ORDER BY at)

-- Grafana: date_bin
SELECT date_bin('10 minutes', at, TIMESTAMP WITH TIME ZONE '2001-01-01') AS time, max(value) FROM iot.readings GROUP BY 1

-- dbt: staging
with source as ( select * from "shop"."public"."orders" ), renamed as ( select id as order_id, customer_id, placed as ordered_at, status from source ) select * from renamed

-- dbt: staging in its schema
with source as ( select * from sales.deals ), renamed as ( select id as deal_id, lower(currency)::varchar(3) as currency, cast(amount as numeric(28,6)) as amount, cast(opened as timestamp) as opened_at from source ) select * from renamed

-- dbt: surrogate key
select md5(cast(coalesce(cast(order_id as TEXT), '_dbt_utils_surrogate_key_null_') || '-' || coalesce(cast(product_id as TEXT), '_dbt_utils_surrogate_key_null_') as TEXT)) as id, quantity from order_items

-- dbt: date spine
with rawdata as ( with p as ( select 0 as generated_number union all select 1 ), unioned as ( select p0.generated_number * power(2, 0) + p1.generated_number * power(2, 1) + p2.generated_number * power(2, 2) + 1 as generated_number from p as p0 cross join p as p1 cross join p as p2 ) select * from unioned where generated_number <= 7 order by generated_number ), all_periods as ( select ( cast('2021-01-01' as date) + ((interval '1 day') * (row_number() over (order by generated_number) - 1)) ) as date_day from rawdata ) select * from all_periods where date_day <= cast('2021-01-08' as date)

-- dbt: a test
select count(*) as failures, count(*) != 0 as should_warn, count(*) != 0 as should_error from ( select id as unique_field, count(*) as n_records from public.orders where id is not null group by id having count(*) > 1 ) dbt_internal_test

-- dbt: accepted values
with all_values as ( select status as value_field, count(*) as n_records from public.orders group by status ) select * from all_values where value_field not in ( 'paid','open' )

-- dbt: relationships
with child as ( select customer_id as from_field from public.orders where customer_id is not null ), parent as ( select id as to_field from public.customers ) select from_field from child left join parent on child.from_field = parent.to_field where parent.to_field is null

-- dbt: pivot macro
select city, sum( case when country = 'GB' then 1 else 0 end ) as "GB", sum( case when country = 'FR' then 1 else 0 end ) as "FR" from customers group by city

-- dbt: unpivot macro
select id, 'price'::varchar as field_name, cast(price as varchar) as value from products union all select id, 'name'::varchar, cast(name as varchar) from products

-- dbt: latest row
select * from ( select *, row_number() over (partition by customer_id order by placed desc) as rn from orders ) ranked where rn = 1

-- dbt: datediff macro
select id, ((closed)::date - (opened)::date) as days, (((date_part('year', (closed)::date) - date_part('year', (opened)::date))) * 12 + date_part('month', (closed)::date) - date_part('month', (opened)::date)) as months from sales.deals

-- dbt: incremental filter
select * from web.events where at > (select coalesce(max(at), '1900-01-01'::timestamp) from web.events where kind = 'buy')

-- dbt: snapshot
select id, status, placed, md5(coalesce(cast(id as varchar ), '') || '|' || coalesce(cast(placed as varchar ), '')) as dbt_scd_id, nullif(placed, placed) as dbt_valid_to, now()::timestamp without time zone as dbt_updated_at from orders

-- dbt: url parameter
select nullif(split_part(split_part(split_part(url, 'utm_source=', 2), '&', 1), '#', 1), '') as utm_source from web.events

-- Django: list
SELECT "customers"."id", "customers"."name" FROM "customers" WHERE (UPPER("customers"."name"::text) LIKE UPPER('%ad%') AND NOT ("customers"."city" IS NULL)) ORDER BY "customers"."name" ASC LIMIT 21

-- Django: aggregate over annotation
SELECT COUNT(*) FROM (SELECT "customers"."id" AS "col1", COUNT("orders"."id") AS "n" FROM "customers" LEFT OUTER JOIN "orders" ON ("customers"."id" = "orders"."customer_id") GROUP BY 1 HAVING COUNT("orders"."id") > 1) subquery

-- Django: exists and case
SELECT "customers"."id", EXISTS(SELECT 1 AS "a" FROM "orders" U0 WHERE U0."customer_id" = ("customers"."id") LIMIT 1) AS "has_orders" FROM "customers"

-- Django: months
SELECT DISTINCT (DATE_TRUNC('month', "orders"."placed" AT TIME ZONE 'UTC')) AS "datefield" FROM "orders" WHERE "orders"."placed" IS NOT NULL ORDER BY 1 ASC

-- Django: random order
SELECT "products"."id", "products"."name" FROM "products" ORDER BY RANDOM() ASC LIMIT 3

-- SQLAlchemy: aliases
SELECT anon_1.city AS anon_1_city, count(anon_1.id) AS count_1 FROM (SELECT customers.id AS id, customers.city AS city FROM customers WHERE customers.joined >= '2020-01-01'::DATE) AS anon_1 GROUP BY anon_1.city

-- Rails: exists
SELECT 1 AS one FROM "orders" WHERE "orders"."status" = 'open' LIMIT 1

-- Hibernate: fetch
select c1_0.id,c1_0.name,o1_0.customer_id,o1_0.id,o1_0.status from customers c1_0 left join orders o1_0 on c1_0.id=o1_0.customer_id where c1_0.country in ('GB','FR') offset 0 rows fetch first 10 rows only

-- DBeaver: table data
SELECT x.* FROM public.customers x WHERE x.city = 'London' ORDER BY x.id

-- DBeaver: table data with the row's address
SELECT id, name, ctid FROM public.customers WHERE ctid IS NOT NULL LIMIT 200

-- pgAdmin: rows
SELECT * FROM public.order_items ORDER BY order_id ASC, product_id ASC LIMIT 100

-- a tool asks for tables
SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE' ORDER BY 1, 2

-- a tool asks for columns
SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'customers' ORDER BY ordinal_position

-- a tool asks how large tables are
SELECT relname, pg_size_pretty(pg_total_relation_size(c.oid)) FROM pg_class c WHERE relkind = 'r' ORDER BY pg_total_relation_size(c.oid) DESC LIMIT 10

-- a tool asks where it is
SELECT current_database(), current_schema(), current_user

-- a tool asks for the version
SELECT version()

-- a tool asks for the version's number
SELECT current_setting('server_version_num')::int

-- pandas: profile of a column
SELECT count(*) AS n, count(city) AS present, count(*) - count(city) AS missing, count(DISTINCT city) AS "unique", round(100.0 * count(city) / count(*), 1) AS filled FROM customers

-- Hex, Mode: parameters inlined
SELECT date_trunc('week', placed)::date AS week, count(*) FILTER (WHERE status = 'paid') AS paid, count(*) FILTER (WHERE status <> 'paid') AS other FROM orders WHERE placed >= '2021-01-01'::date AND placed < '2021-12-31'::date + 1 GROUP BY 1 ORDER BY 1

-- customers without orders
SELECT c.* FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.id IS NULL

-- cohorts
WITH first AS (SELECT customer_id, date_trunc('month', min(placed)) AS cohort FROM orders GROUP BY 1), activity AS (SELECT o.customer_id, f.cohort, (extract(year FROM age(date_trunc('month', o.placed), f.cohort)) * 12 + extract(month FROM age(date_trunc('month', o.placed), f.cohort)))::int AS month_number FROM orders o JOIN first f USING (customer_id)) SELECT cohort::date, month_number, count(DISTINCT customer_id) AS customers FROM activity GROUP BY 1, 2 ORDER BY 1, 2

-- retention matrix
WITH c AS (SELECT customer_id, min(placed)::date AS first_day FROM orders GROUP BY 1) SELECT first_day, count(*) AS size, count(*) FILTER (WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id AND o.placed::date BETWEEN first_day + 30 AND first_day + 90)) AS back FROM c GROUP BY first_day

-- funnel
SELECT count(DISTINCT visitor) AS visitors, count(DISTINCT visitor) FILTER (WHERE kind = 'view') AS viewed, count(DISTINCT visitor) FILTER (WHERE kind = 'buy') AS bought, round(100.0 * count(DISTINCT visitor) FILTER (WHERE kind = 'buy') / nullif(count(DISTINCT visitor) FILTER (WHERE kind = 'view'), 0), 1) AS rate FROM web.events

-- ordered funnel
SELECT v.visitor, v.at AS viewed, b.at AS bought, b.at - v.at AS gap FROM web.events v JOIN LATERAL (SELECT at FROM web.events e WHERE e.visitor = v.visitor AND e.kind = 'buy' AND e.at > v.at ORDER BY at LIMIT 1) b ON true WHERE v.kind = 'view'

-- sessions
WITH marked AS (SELECT visitor, at, CASE WHEN at - lag(at) OVER (PARTITION BY visitor ORDER BY at) <= interval '30 minutes' THEN 0 ELSE 1 END AS new_session FROM web.events), numbered AS (SELECT *, sum(new_session) OVER (PARTITION BY visitor ORDER BY at) AS session FROM marked) SELECT visitor, session, min(at), max(at), count(*) FROM numbered GROUP BY 1, 2

-- gaps and islands
SELECT sensor, min(at) AS since, max(at) AS until, count(*) FROM (SELECT sensor, at, row_number() OVER (PARTITION BY sensor ORDER BY at) - row_number() OVER (PARTITION BY sensor, value > 20 ORDER BY at) AS island FROM iot.readings) s GROUP BY sensor, island

-- running total and share
SELECT id, amount, sum(amount) OVER (ORDER BY opened) AS running, amount / sum(amount) OVER () AS share FROM sales.deals

-- Pareto
WITH revenue AS (SELECT i.product_id, sum(i.quantity * p.price) AS amount FROM order_items i JOIN products p ON p.id = i.product_id GROUP BY 1) SELECT product_id, amount, sum(amount) OVER (ORDER BY amount DESC) / sum(amount) OVER () AS cumulative FROM revenue ORDER BY amount DESC

-- moving average
SELECT day, visits, avg(visits) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS week FROM web.pg_visits

-- a moving average over time
SELECT at, value, avg(value) OVER (PARTITION BY sensor ORDER BY at RANGE BETWEEN INTERVAL '10 minutes' PRECEDING AND CURRENT ROW) FROM iot.readings

-- year over year
WITH y AS (SELECT extract(year FROM opened)::int AS year, sum(amount) AS amount FROM sales.deals GROUP BY 1) SELECT year, amount, lag(amount) OVER (ORDER BY year) AS before, round((amount / nullif(lag(amount) OVER (ORDER BY year), 0) - 1) * 100, 1) || '%' AS growth FROM y

-- month over month with a calendar
SELECT m::date AS month, coalesce(sum(d.amount), 0) AS amount FROM generate_series('2021-01-01'::date, '2021-12-01'::date, interval '1 month') AS m LEFT JOIN sales.deals d ON date_trunc('month', d.opened) = m GROUP BY 1 ORDER BY 1

-- the calendar of the last year
SELECT generate_series(date_trunc('month', now()) - interval '11 months', date_trunc('month', now()), interval '1 month') AS month

-- a calendar between the first and the last order
SELECT d::date, count(o.id) FROM generate_series((SELECT min(placed)::date FROM orders), (SELECT max(placed)::date FROM orders), '1 day') AS d LEFT JOIN orders o ON o.placed::date = d::date GROUP BY 1 ORDER BY 1 LIMIT 50

-- RFM
SELECT customer_id, ntile(5) OVER (ORDER BY max(placed)) AS r, ntile(5) OVER (ORDER BY count(*)) AS f, ntile(5) OVER (ORDER BY sum(i.quantity)) AS m FROM orders o JOIN order_items i ON i.order_id = o.id GROUP BY customer_id

-- deciles
SELECT decile, min(price), max(price), count(*) FROM (SELECT price, ntile(10) OVER (ORDER BY price) AS decile FROM products) t GROUP BY decile ORDER BY decile

-- histogram
SELECT width_bucket(price, 0, 300, 6) AS bucket, numrange(min(price), max(price), '[]') AS span, count(*), repeat('#', count(*)::int) AS bar FROM products GROUP BY bucket ORDER BY bucket

-- a bar of fixed width
SELECT status, count(*), repeat('*', least(count(*), 40)::int) AS bar FROM orders GROUP BY status

-- a ruler
SELECT repeat('-', 40) AS line

-- median and mode
SELECT category, percentile_cont(0.5) WITHIN GROUP (ORDER BY price) AS median, mode() WITHIN GROUP (ORDER BY name) FROM products GROUP BY category

-- several percentiles at once
SELECT unnest(ARRAY[0.5, 0.9, 0.99]) AS p, unnest(percentile_cont(ARRAY[0.5, 0.9, 0.99]) WITHIN GROUP (ORDER BY ms)) AS ms FROM web.events

-- hypothetical rank
SELECT rank(50) WITHIN GROUP (ORDER BY price), percent_rank(50) WITHIN GROUP (ORDER BY price) FROM products

-- standard scores
SELECT id, (value - avg(value) OVER w) / nullif(stddev_samp(value) OVER w, 0) AS z FROM (SELECT sensor AS id, value FROM iot.readings WHERE value <> 'NaN'::float8) r WINDOW w AS ()

-- regression
SELECT regr_slope(ms, id) AS slope, regr_intercept(ms, id) AS base, regr_r2(ms, id) AS r2, corr(ms, id) FROM web.events

-- weighted average
SELECT sum(price * quantity) / nullif(sum(quantity), 0) AS weighted FROM order_items JOIN products ON products.id = product_id

-- duplicates
SELECT lower(trim(name)) AS key, count(*), array_agg(id ORDER BY id) AS ids FROM customers GROUP BY 1 HAVING count(*) > 1

-- the first of each
SELECT DISTINCT ON (city) city, name, joined FROM customers ORDER BY city, joined DESC NULLS LAST

-- the top three per group
SELECT * FROM (SELECT p.*, dense_rank() OVER (PARTITION BY category ORDER BY price DESC) AS place FROM products p) t WHERE place <= 3

-- hierarchy
WITH RECURSIVE chain AS (SELECT id, name, manager_id, 1 AS level, name::text AS path FROM hr.employees WHERE manager_id IS NULL UNION ALL SELECT e.id, e.name, e.manager_id, c.level + 1, c.path || ' > ' || e.name FROM hr.employees e JOIN chain c ON e.manager_id = c.id) SELECT repeat('  ', level - 1) || name AS tree, path FROM chain ORDER BY path

-- hierarchy, indented with lpad
WITH RECURSIVE chain AS (SELECT id, name, 0 AS level FROM hr.employees WHERE manager_id IS NULL UNION ALL SELECT e.id, e.name, c.level + 1 FROM hr.employees e JOIN chain c ON e.manager_id = c.id) SELECT lpad('', level * 2) || name FROM chain

-- hierarchy with an array for the path
WITH RECURSIVE chain (id, path) AS (SELECT id, ARRAY[id] FROM hr.employees WHERE manager_id IS NULL UNION ALL SELECT e.id, c.path || e.id FROM hr.employees e, chain c WHERE e.manager_id = c.id AND e.id <> ALL (c.path)) SELECT id, array_to_string(path, '/') FROM chain

-- Fibonacci
WITH RECURSIVE f (a, b) AS (SELECT 0, 1 UNION ALL SELECT b, a + b FROM f WHERE b < 1000) SELECT a FROM f

-- a count down
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT count(*) FROM n

-- salaries beside those of the managers
SELECT e.name, e.salary, m.name AS manager, m.salary - e.salary AS difference FROM hr.employees e LEFT JOIN hr.employees m ON m.id = e.manager_id

-- a column that begins like the system's
SELECT e.name, e.pg_level FROM hr.employees AS e WHERE e.pg_level >= 5 ORDER BY e.pg_level DESC

-- a table that begins like the system's
SELECT a.owner, a.balance FROM pg_accounts a WHERE a.balance < 0

-- the same with its schema
SELECT sum(balance) FROM public.pg_accounts

-- another in a schema of its own
SELECT v.day, v.visits FROM web.pg_visits v ORDER BY v.day

-- a WITH query that begins like the system's
WITH pg_totals AS (SELECT owner, sum(balance) AS total FROM public.pg_accounts GROUP BY owner) SELECT * FROM pg_totals WHERE total > 0

-- an alias that begins like the system's
SELECT pg.owner, pg.opened FROM public.pg_accounts pg WHERE pg.opened < CURRENT_DATE

-- tenure
SELECT name, age(coalesce(left_on, CURRENT_DATE), hired) AS tenure, date_part('year', age(coalesce(left_on, CURRENT_DATE), hired)) AS years FROM hr.employees

-- headcount on each first of a month
SELECT d::date, count(e.id) FROM generate_series(DATE '2020-01-01', DATE '2021-12-01', INTERVAL '1 month') AS d JOIN hr.employees e ON e.hired <= d AND (e.left_on IS NULL OR e.left_on > d) GROUP BY d ORDER BY d

-- business days
SELECT count(*) FROM generate_series(DATE '2021-01-01', DATE '2021-01-31', INTERVAL '1 day') AS g(d) WHERE extract(isodow FROM d) < 6

-- the fiscal year
SELECT extract(year FROM placed + interval '3 months') AS fiscal_year, 'Q' || extract(quarter FROM placed + interval '3 months') AS quarter, count(*) FROM orders GROUP BY 1, 2

-- the end of the month
SELECT (date_trunc('month', placed) + interval '1 month - 1 day')::date AS month_end, count(*) FROM orders GROUP BY 1

-- ISO weeks
SELECT to_char(placed, 'IYYY-"W"IW') AS week, count(*) FROM orders GROUP BY 1 ORDER BY 1

-- names of days
SELECT trim(to_char(placed, 'Day')) AS day, count(*) FROM orders GROUP BY 1, extract(isodow FROM placed) ORDER BY extract(isodow FROM placed)

-- yesterday and today
SELECT count(*) FILTER (WHERE at::date = CURRENT_DATE - 1) AS yesterday, count(*) FILTER (WHERE at::date = 'today'::date) AS today FROM web.events

-- this month against the same days of the last
SELECT sum(amount) FILTER (WHERE opened >= date_trunc('month', CURRENT_DATE)) AS this, sum(amount) FILTER (WHERE opened >= date_trunc('month', CURRENT_DATE) - INTERVAL '1 month' AND opened < CURRENT_DATE - INTERVAL '1 month') AS last FROM sales.deals

-- durations as text
SELECT id, to_char(took, 'HH24:MI:SS'), extract(epoch FROM took) / 60 AS minutes, justify_hours(took * 30) FROM web.events

-- intervals from columns
SELECT id, at + make_interval(secs => ms / 1000.0) AS done, at + ms * interval '1 millisecond' AS finished, at + (ms || ' milliseconds')::interval AS also FROM web.events

-- local hours
SELECT extract(hour FROM at AT TIME ZONE 'America/New_York') AS hour, count(*) FROM web.events GROUP BY 1 ORDER BY 1

-- time of day
SELECT at::time AS clock, at::time BETWEEN '09:00' AND '17:00' AS office, at::timetz FROM web.events

-- overlapping periods
SELECT a.id, b.id FROM sales.deals a JOIN sales.deals b ON a.id < b.id AND tstzrange(a.opened, a.closed) && tstzrange(b.opened, b.closed)

-- ranges
SELECT id, lower(band), upper(band), band @> 3.5, band && numrange(1, 2)::text::priceband FROM contacts

-- a range type of one's own
SELECT count(*) FROM contacts WHERE band && '[3,4)'::priceband

-- an enum in a filter
SELECT * FROM contacts WHERE feeling = 'happy'::mood OR feeling > 'sad'::public.mood

-- an enum's order
SELECT feeling, count(*) FROM contacts GROUP BY feeling ORDER BY array_position(ARRAY['happy', 'ok', 'sad']::mood[], feeling)

-- all values of an enum
SELECT unnest(enum_range(NULL::mood)) AS feeling

-- an enum as text
SELECT stage::text, initcap(stage::text), count(*) FROM sales.deals GROUP BY stage

-- a list of enum values
SELECT id FROM sales.deals WHERE stage = ANY ('{won,lost}'::sales.stage[])

-- a domain
SELECT mail::text, split_part(mail, '@', 2) AS host, 'x@example.org'::email FROM contacts

-- fields of a composite column
SELECT id, (home).town, (home).zip FROM contacts WHERE (home).town = 'London'

-- fields of a composite column of an alias
SELECT (c.home).street, (c.home).town AS town FROM public.contacts AS c ORDER BY (c.home).town

-- all fields of a composite column
SELECT id, (home).* FROM contacts

-- fields of an array of composites
SELECT id, (previous[1]).town FROM contacts WHERE cardinality(previous) > 0

-- composites unnested
SELECT c.id, p.town, p.zip FROM contacts c CROSS JOIN LATERAL unnest(c.previous) AS p

-- a composite from values
SELECT ROW('5 Long Rd', 'York', 'Y1')::postal, (ROW('5 Long Rd', 'York', 'Y1')::postal).town

-- a record function in FROM
SELECT p.street, p.town FROM jsonb_populate_record(NULL::postal, '{"street": "a", "town": "b"}') AS p

-- rows as JSON
SELECT row_to_json(c) FROM contacts c

-- JSON documents
SELECT json_agg(json_build_object('city', city, 'n', n) ORDER BY n DESC) FROM (SELECT city, count(*) AS n FROM customers GROUP BY city) t

-- JSON paths
SELECT id, properties -> 'page' ->> 'name' AS page, (properties ->> 'amount')::numeric AS amount, properties #> '{tags,0}' AS tag FROM web.events WHERE properties @> '{"page": {"name": "home"}}' OR properties ? 'amount'

-- SQL/JSON paths
SELECT id, jsonb_path_query_array(properties, '$.tags[*]'), jsonb_path_exists(properties, '$.amount ? (@ > 10)') FROM web.events

-- JSON arrays as rows
SELECT e.id, t.tag, t.ord FROM web.events e CROSS JOIN LATERAL jsonb_array_elements_text(e.properties -> 'tags') WITH ORDINALITY AS t(tag, ord)

-- keys of JSON documents
SELECT k, count(*) FROM web.events, jsonb_object_keys(properties) AS k GROUP BY k ORDER BY 2 DESC

-- JSON records
SELECT x.* FROM web.events e, jsonb_to_record(e.properties) AS x(amount numeric, tags text[]) WHERE e.kind = 'buy'

-- JSON table
SELECT e.id, j.tag FROM web.events e, JSON_TABLE(e.properties, '$.tags[*]' COLUMNS (tag text PATH '$')) AS j

-- JSON values by the standard
SELECT JSON_VALUE(properties, '$.amount' RETURNING numeric DEFAULT 0 ON EMPTY) FROM web.events

-- JSON constructors by the standard
SELECT JSON_OBJECT('id' VALUE id, 'name' VALUE name ABSENT ON NULL) FROM customers

-- pretty JSON
SELECT jsonb_pretty(jsonb_build_object('n', count(*), 'cities', jsonb_agg(DISTINCT city))) FROM customers

-- arrays
SELECT name, tags, 'vip' = ANY (tags) AS vip, array_length(tags, 1), array_to_string(tags, ', ', '-') FROM customers WHERE tags @> ARRAY['vip'] OR tags && '{early}'

-- tags as rows
SELECT t AS tag, count(*) FROM customers, unnest(tags) AS t GROUP BY t ORDER BY count(*) DESC, t

-- words
SELECT word, count(*) FROM (SELECT regexp_split_to_table(lower(notes), '\W+') AS word FROM sales.deals) w WHERE word <> '' GROUP BY word ORDER BY 2 DESC, 1 LIMIT 10

-- string_to_table
SELECT w FROM sales.deals d, string_to_table(d.notes, ' ') AS w

-- the host of an address
SELECT substring(url FROM '^https?://([^/]+)') AS host, regexp_replace(url, '\?.*$', '') AS page, count(*) FROM web.events GROUP BY 1, 2

-- cleaning numbers
SELECT nullif(regexp_replace('EUR 1,234.50', '[^0-9.]', '', 'g'), '')::numeric

-- cleaning names
SELECT initcap(regexp_replace(trim(both ' ' from name), '\s+', ' ', 'g')) AS name, translate(lower(name), 'äöü', 'aou') FROM customers

-- masked names
SELECT left(name, 1) || repeat('*', greatest(length(name) - 1, 0)) AS masked FROM customers

-- codes with leading zeros
SELECT lpad(id::text, 8, '0') AS code, rpad(name, 12, '.') || '|' AS label, to_char(id, 'FM000000') FROM customers

-- money
SELECT to_char(amount, 'FM999G999G990D00') || ' ' || currency, amount::money, round(amount, -2), amount::int FROM sales.deals

-- formats
SELECT format('%s <%s>', c.name, k.mail) AS line, format('%-10s|%5s', c.name, c.id) FROM customers c JOIN contacts k ON k.customer_id = c.id

-- full-text search
SELECT id, ts_rank(to_tsvector('english', notes), q) AS rank, ts_headline('english', notes, q) FROM sales.deals, websearch_to_tsquery('english', 'deal price') AS q WHERE to_tsvector('english', notes) @@ q ORDER BY rank DESC

-- collation
SELECT name FROM customers ORDER BY name COLLATE "POSIX", lower(name) COLLATE "C"

-- case-insensitive and accent patterns
SELECT name FROM customers WHERE name ~* '^a' OR name ILIKE ANY (ARRAY['b%', 'c%'])

-- grouping sets
SELECT coalesce(country, 'all') AS country, coalesce(city, 'all') AS city, count(*), grouping(country, city) AS level FROM customers GROUP BY GROUPING SETS ((country, city), (country), ()) ORDER BY 4, 1, 2

-- rollup with labels
SELECT CASE WHEN grouping(category) = 1 THEN 'Total' ELSE coalesce(category, '?') END AS category, sum(price) FROM products GROUP BY ROLLUP (category)

-- cube
SELECT currency, stage, sum(amount) FROM sales.deals GROUP BY CUBE (currency, stage) ORDER BY 1 NULLS LAST, 2 NULLS LAST

-- against the target
SELECT t.month, t.target, coalesce(sum(d.amount) FILTER (WHERE d.stage = 'won'), 0) AS won FROM sales.targets t LEFT JOIN sales.deals d ON date_trunc('month', d.opened)::date = t.month GROUP BY t.month, t.target ORDER BY t.month

-- win rate
SELECT currency, avg((stage = 'won')::int) AS rate, sum((stage = 'won')::int) AS won, bool_or(stage = 'lost') FROM sales.deals GROUP BY currency

-- average time to close, in days
SELECT avg(closed - opened) AS mean, round((extract(epoch FROM avg(closed - opened)) / 86400)::numeric, 1) AS days FROM sales.deals WHERE closed IS NOT NULL

-- bits and bytes
SELECT sensor, encode(raw, 'hex'), length(raw), get_byte(raw, 0), bit_count(flags), flags & B'00000001', flags::int FROM iot.readings

-- sizes
SELECT pg_size_pretty(sum(length(raw))::bigint) FROM iot.readings

-- the size of values
SELECT sensor, pg_column_size(raw) FROM iot.readings

-- the type of an expression
SELECT pg_typeof(price), pg_typeof(price * 1.5) FROM products LIMIT 1

-- a random sample
SELECT * FROM customers ORDER BY random() LIMIT 2

-- a random tenth
SELECT * FROM web.events WHERE random() < 0.1

-- a sample that repeats
SELECT * FROM web.events TABLESAMPLE BERNOULLI (10) REPEATABLE (42)

-- a sample by hash
SELECT * FROM web.events WHERE ('x' || substr(md5(id::text), 1, 8))::bit(32)::int % 10 = 0

-- A/B groups
SELECT CASE WHEN abs(hashtext(visitor::text)) % 2 = 0 THEN 'A' ELSE 'B' END AS variant, count(*) FROM web.events GROUP BY 1

-- new keys
SELECT gen_random_uuid() AS key, name FROM customers

-- simulated dice
SELECT 1 + floor(random() * 6)::int AS dice FROM generate_series(1, 10)

-- the binomial coefficient
SELECT factorial(10) / (factorial(3) * factorial(7)) AS ways

-- compound interest
SELECT n, round(1000 * (1 + 0.05) ^ n, 2) AS capital, round(1000 * power(1.05, n), 2) FROM generate_series(0, 10) AS n

-- a great circle
SELECT 2 * 6371 * asin(sqrt(power(sin(radians((52.5 - 48.9) / 2)), 2) + cos(radians(48.9)) * cos(radians(52.5)) * power(sin(radians((13.4 - 2.35) / 2)), 2))) AS km

-- multiplication table
SELECT a, b, a * b AS product FROM generate_series(1, 5) a CROSS JOIN generate_series(1, 5) b

-- numbers up to a million
SELECT sum(n) FROM generate_series(1, 1000000) AS n

-- zeros for an array
SELECT array_fill(0, ARRAY[12]) AS months

-- a constant table
SELECT v.code, v.label FROM (VALUES ('GB', 'United Kingdom'), ('FR', 'France')) AS v(code, label) JOIN customers c ON c.country = v.code

-- functions side by side
SELECT a, b FROM ROWS FROM (generate_series(1, 3), unnest(ARRAY['x', 'y'])) AS t(a, b)

-- set operations
SELECT city FROM customers WHERE city IS NOT NULL EXCEPT SELECT 'Paris' UNION ALL (SELECT town FROM (SELECT (home).town AS town FROM contacts) h)

-- qualified calls
SELECT pg_catalog.lower(name), pg_catalog.count(*) FROM customers GROUP BY 1

-- qualified types
SELECT CAST(1 AS pg_catalog.int8), '1'::pg_catalog.numeric

-- other spellings of types
SELECT 1::int8, 2::float, 3::dec(5,1), 'a'::character varying(5), 'b'::character(3), 'c'::national character varying(3), now()::timestamp(0), 1::double precision, b'1'::bit varying

-- booleans
SELECT count(*) FILTER (WHERE city IS NULL IS TRUE), bool_and(id > 0), every(name <> ''), sum(CASE WHEN country = 'GB' THEN 1 END) FROM customers

-- nullable comparisons
SELECT a.id, b.id FROM customers a JOIN customers b ON a.city IS NOT DISTINCT FROM b.city AND a.id < b.id

-- the greatest and least of columns
SELECT id, greatest(opened, closed, '2021-02-01'), least(opened, closed), num_nulls(closed, notes) FROM sales.deals

-- values before and after
SELECT id, opened, first_value(amount) OVER w, last_value(amount) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), nth_value(amount, 2) OVER w FROM sales.deals WINDOW w AS (PARTITION BY customer_id ORDER BY opened)

-- carried forward
SELECT sensor, at, max(value) OVER (PARTITION BY sensor, grp) AS value FROM (SELECT *, count(value) OVER (PARTITION BY sensor ORDER BY at) AS grp FROM iot.readings) t

-- concurrency of sessions
SELECT t, sum(d) OVER (ORDER BY t) AS open FROM (SELECT opened AS t, 1 AS d FROM sales.deals UNION ALL SELECT closed, -1 FROM sales.deals WHERE closed IS NOT NULL) x

-- a cross tabulation by hand
SELECT customer_id, max(amount) FILTER (WHERE stage = 'won') AS won, max(amount) FILTER (WHERE stage = 'lost') AS lost, max(CASE stage WHEN 'lead' THEN amount END) AS lead FROM sales.deals GROUP BY customer_id

-- a cross tabulation by tablefunc
SELECT * FROM crosstab('SELECT customer_id, stage::text, amount FROM sales.deals ORDER BY 1, 2') AS t(customer_id int, lead numeric, lost numeric, won numeric)

-- baskets
SELECT a.product_id, b.product_id, count(*) AS together FROM order_items a JOIN order_items b ON a.order_id = b.order_id AND a.product_id < b.product_id GROUP BY 1, 2 HAVING count(*) >= 1 ORDER BY 3 DESC

-- division of sets
SELECT c.name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM products p WHERE NOT EXISTS (SELECT 1 FROM orders o JOIN order_items i ON i.order_id = o.id WHERE o.customer_id = c.id AND i.product_id = p.id))

-- networks
SELECT address, family(address), set_masklen(address, 24), network(set_masklen(address, 24)) FROM bookings WHERE address <<= '10.0.0.0/8'

-- near each other
SELECT room, spot <-> point(1, 1) AS distance, spot <@ box '((0,0),(5,5))', spot[0] FROM bookings ORDER BY spot <-> point(1, 1)

-- coordinates of one's own table
SELECT "Id", "Total"::numeric(10, 2), "Total" / NULLIF("Id", 0) AS "Ratio" FROM "Archive"."Old Orders" o WHERE o."Total" > 1

-- the last id of each
SELECT (array_agg(id ORDER BY placed DESC))[1] AS last_order, customer_id FROM orders GROUP BY customer_id

-- list of orders
SELECT c.name, string_agg(o.id::text, ',' ORDER BY o.placed) FILTER (WHERE o.status IS NOT NULL) AS orders FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id

-- arrays from a query
SELECT name, ARRAY(SELECT o.id FROM orders o WHERE o.customer_id = c.id ORDER BY 1) AS orders FROM customers c

-- the function's own column
SELECT jsonb_object_keys.jsonb_object_keys FROM jsonb_object_keys('{"a": 1}')

-- time arithmetic of dates
SELECT DATE '2021-03-01' - DATE '2021-02-01', DATE '2021-01-31' + INTERVAL '1 month', TIME '10:00' + INTERVAL '90 minutes', date_trunc('hour', LOCALTIMESTAMP) FROM customers LIMIT 1

-- epochs
SELECT extract(epoch FROM at)::bigint * 1000 AS ms, to_timestamp(extract(epoch FROM at)) FROM web.events

-- julian, century, millennium
SELECT extract(julian FROM joined), extract(century FROM joined), to_char(joined, 'J'), make_date(2021, 5, 17), isfinite(joined) FROM customers

-- which schema comes first
SELECT current_schemas(false)

-- how far apart two words are
SELECT levenshtein('kitten', 'sitting')

-- similar names
SELECT name, similarity(name, 'Adah') FROM customers WHERE name % 'Adah'
