-- A condition on what the question says nothing of.

-- schema: flags
-- question: average age of the members
SELECT AVG(age) FROM member WHERE name = 'Oval'
=>
SELECT AVG(age) FROM member

-- schema: flags
-- question: average age of the members
SELECT AVG(age) FROM member WHERE name IN ('Oval', 'Wembley') AND age > 3
=>
SELECT AVG(age) FROM member WHERE age > 3

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
-- schema: flags
-- question: average age of the French members
SELECT AVG(age) FROM member WHERE name = 'Oval'
=>
unchanged

-- so it may where something is denied
-- schema: flags
-- question: average age of the members that are not old
SELECT AVG(age) FROM member WHERE name = 'Oval'
=>
unchanged

-- the value is said
-- schema: flags
-- question: average age of the members called Oval
SELECT AVG(age) FROM member WHERE name = 'Oval'
=>
unchanged

-- so it is for the same column
-- schema: flags
-- question: average age of the members called Oval
SELECT AVG(age) FROM member WHERE name = 'Oval' OR name = 'Wembley'
=>
unchanged

-- schema: flags
-- question: average age of the members like Oval
SELECT AVG(age) FROM member WHERE name LIKE 'Oval%' AND name <> 'Wembley'
=>
unchanged

-- a code is said by what it means
-- schema: trade
-- question: total of the paid orders
SELECT SUM(total) FROM orders WHERE status = 20
=>
unchanged

-- a value of that column is
-- schema: flags
-- question: average age of the members
-- values: member.name = Oval
SELECT AVG(age) FROM member WHERE name = 'Oval'
=>
unchanged

-- a number in words is a number
-- schema: trade
-- question: orders with more than two thousand in all
SELECT order_id FROM orders WHERE total > 2000
=>
unchanged

-- days of a period that is said
-- schema: trade
-- question: total of the orders of last year
SELECT SUM(total) FROM orders WHERE ordered_at >= '2020-01-01' AND ordered_at < '2021-01-01'
=>
unchanged
