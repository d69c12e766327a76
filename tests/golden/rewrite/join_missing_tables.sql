-- A table by which a column is qualified and that FROM does not hold is joined along the foreign keys.

-- nothing is missing
SELECT singer.country FROM singer
=>
unchanged

-- one step
SELECT stadium.name FROM concert
=>
SELECT stadium.name FROM concert JOIN stadium ON concert.stadium_id = stadium.stadium_id

-- two steps, over a table in between
SELECT singer.country FROM concert
=>
SELECT singer.country FROM concert JOIN singer_in_concert ON concert.concert_id = singer_in_concert.concert_id JOIN singer ON singer_in_concert.singer_id = singer.singer_id

-- from a table with an alias
SELECT stadium.name FROM concert AS c
=>
SELECT stadium.name FROM concert AS c JOIN stadium ON c.stadium_id = stadium.stadium_id

-- named in WHERE alone
SELECT COUNT(*) FROM concert WHERE stadium.name = 'Oval'
=>
SELECT COUNT(*) FROM concert JOIN stadium ON concert.stadium_id = stadium.stadium_id WHERE stadium.name = 'Oval'

-- inside a subquery
SELECT singer.country FROM singer WHERE singer.singer_id IN (SELECT singer_in_concert.singer_id FROM singer_in_concert WHERE concert.year = '2014')
=>
SELECT singer.country FROM singer WHERE singer.singer_id IN (SELECT singer_in_concert.singer_id FROM singer_in_concert JOIN concert ON singer_in_concert.concert_id = concert.concert_id WHERE concert.year = '2014')

-- a correlated reference is not missing
SELECT stadium.name FROM stadium WHERE EXISTS (SELECT 1 FROM concert WHERE concert.stadium_id = stadium.stadium_id)
=>
unchanged

-- the table in between is named as well
SELECT singer.country, singer_in_concert.entry_id FROM concert
=>
SELECT singer.country, singer_in_concert.entry_id FROM concert JOIN singer_in_concert ON concert.concert_id = singer_in_concert.concert_id JOIN singer ON singer_in_concert.singer_id = singer.singer_id

-- what requalify leaves behind
SELECT concert.title FROM concert ORDER BY stadium.capacity LIMIT 1
=>
SELECT concert.title FROM concert JOIN stadium ON concert.stadium_id = stadium.stadium_id ORDER BY stadium.capacity LIMIT 1

-- what requalify leaves behind, with an alias
SELECT c.title FROM concert AS c WHERE stadium.capacity = '3'
=>
SELECT c.title FROM concert AS c JOIN stadium ON c.stadium_id = stadium.stadium_id WHERE stadium.capacity = '3'

-- a query of WITH is no table
WITH stadium AS (SELECT 1 AS name) SELECT stadium.name FROM concert
=>
unchanged

-- nor may a table on the way be hidden by one
WITH singer_in_concert AS (SELECT 1 AS one) SELECT singer.country FROM concert
=>
unchanged

-- nothing refers to a query of WITH
WITH concert AS (SELECT 1 AS stadium_id) SELECT stadium.name FROM concert
=>
unchanged

-- of two schemas' tables of one name: the one that the path leads over
-- schema: shop
SELECT clients.email FROM payments
=>
SELECT clients.email FROM payments JOIN orders ON payments.order_id = orders.id JOIN clients ON orders.client_id = clients.id

-- from the one that is read
-- schema: shop
SELECT clients.email FROM archive.orders
=>
SELECT clients.email FROM archive.orders JOIN clients ON orders.id = clients.id

-- the one that has the column
-- schema: shop
SELECT orders.closed FROM clients
=>
SELECT orders.closed FROM clients JOIN archive.orders ON clients.id = orders.id

-- both have it, and the search path finds one
-- schema: shop
SELECT orders.total FROM clients
=>
SELECT orders.total FROM clients JOIN orders ON clients.id = orders.client_id

-- the one whose schema is written
-- schema: shop
SELECT archive.orders.total FROM clients
=>
SELECT archive.orders.total FROM clients JOIN archive.orders ON clients.id = orders.id

-- two of one name in one FROM would need an alias
-- schema: shop
SELECT refunds.id, orders.client_id FROM orders
=>
unchanged

-- an alias that FROM does not give is short for the one table that has its columns
SELECT s.capacity, c.title FROM concert AS c ORDER BY s.capacity
=>
SELECT stadium.capacity, c.title FROM concert AS c JOIN stadium ON c.stadium_id = stadium.stadium_id ORDER BY stadium.capacity

-- by position
SELECT T1.title FROM concert AS T1 WHERE T2.capacity = '3'
=>
SELECT t1.title FROM concert AS t1 JOIN stadium ON t1.stadium_id = stadium.stadium_id WHERE stadium.capacity = '3'

-- two tables could be meant
SELECT T2.stadium_id FROM singer AS T1
=>
unchanged

-- names imply what no foreign key declares
-- schema: keyless
SELECT singer.country FROM concert
=>
SELECT singer.country FROM concert JOIN singer_in_concert ON concert.concert_id = singer_in_concert.concert_id JOIN singer ON singer_in_concert.singer_id = singer.singer_id

-- over tables in between, too, where the question speaks of all but one
-- question: the stadiums and their concerts' singers
-- schema: keyless
SELECT stadium.name, singer.country FROM stadium
=>
SELECT stadium.name, singer.country FROM stadium JOIN concert ON stadium.stadium_id = concert.stadium_id JOIN singer_in_concert ON concert.concert_id = singer_in_concert.concert_id JOIN singer ON singer_in_concert.singer_id = singer.singer_id

-- not over two that the question does not speak of
-- question: the stadiums and their singers
-- schema: keyless
SELECT stadium.name, singer.country FROM stadium
=>
unchanged

-- no reference leads there: over the column that one table of each side has
-- schema: islands
SELECT vendor.name FROM sale WHERE sale.price = '3'
=>
SELECT vendor.name FROM sale JOIN model_line ON sale.model = model_line.model JOIN vendor ON model_line.vendor_id = vendor.vendor_id WHERE sale.price = '3'
