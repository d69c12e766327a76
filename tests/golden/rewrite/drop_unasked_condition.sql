-- A condition on what the question says nothing of.

-- question: average capacity of the stadiums
SELECT AVG(capacity) FROM stadium WHERE name = 'Paris'
=>
SELECT AVG(capacity) FROM stadium

-- question: average capacity of the stadiums
SELECT AVG(capacity) FROM stadium WHERE name IN ('Paris', 'Rome') AND capacity > 30000
=>
SELECT AVG(capacity) FROM stadium WHERE capacity > 30000

-- schema: trade
-- question: total of the orders of each customer
SELECT customer_id, SUM(total) FROM orders WHERE status = 30 OR status = 20 GROUP BY customer_id
=>
SELECT customer_id, SUM(total) FROM orders GROUP BY customer_id

-- an order says what is busiest
-- schema: trade
-- question: busiest customer
SELECT customer_id FROM orders WHERE status = 30 GROUP BY customer_id ORDER BY COUNT(*) DESC LIMIT 1
=>
SELECT customer_id FROM orders GROUP BY customer_id ORDER BY COUNT(*) DESC LIMIT 1

-- a word is left that it may stand for
-- question: average capacity of the French stadiums
SELECT AVG(capacity) FROM stadium WHERE name = 'Paris'
=>
unchanged

-- so it may where something is denied
-- question: average capacity of the stadiums that are not old
SELECT AVG(capacity) FROM stadium WHERE name = 'Paris'
=>
unchanged

-- the value is said
-- question: average capacity of the stadiums of Paris
SELECT AVG(capacity) FROM stadium WHERE name = 'Paris'
=>
unchanged

-- so it is for the same column
-- question: average capacity of the stadiums of Paris
SELECT AVG(capacity) FROM stadium WHERE name = 'Paris' OR name = 'Rome'
=>
unchanged

-- question: average capacity of the stadiums like Paris
SELECT AVG(capacity) FROM stadium WHERE name LIKE 'Paris%' AND name <> 'Rome'
=>
unchanged

-- a code is said by what it means
-- schema: trade
-- question: total of the paid orders
SELECT SUM(total) FROM orders WHERE status = 20
=>
unchanged

-- a value of that column is
-- question: average capacity of the stadiums
-- values: stadium.name = Paris
SELECT AVG(capacity) FROM stadium WHERE name = 'Paris'
=>
unchanged

-- a number in words is a number
-- question: stadiums with more than two thousand seats
SELECT name FROM stadium WHERE capacity > 2000
=>
unchanged

-- days of a period that is said
-- schema: trade
-- question: total of the orders of last year
SELECT SUM(total) FROM orders WHERE ordered_at >= '2020-01-01' AND ordered_at < '2021-01-01'
=>
unchanged
