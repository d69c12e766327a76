-- NOT IN finds nothing where the list holds NULL.

-- schema: trade
SELECT name FROM customer WHERE NOT customer_id IN (SELECT customer_id FROM orders WHERE total > 3)
=>
SELECT name FROM customer WHERE NOT customer_id IN (SELECT customer_id FROM orders WHERE total > 3 AND NOT customer_id IS NULL)

-- a key is never NULL
-- schema: trade
SELECT item_id FROM item WHERE NOT order_id IN (SELECT order_id FROM orders)
=>
unchanged

-- it is tested
-- schema: trade
SELECT name FROM customer WHERE NOT customer_id IN (SELECT customer_id FROM orders WHERE customer_id > 3)
=>
unchanged

-- IN is not hurt
-- schema: trade
SELECT name FROM customer WHERE customer_id IN (SELECT customer_id FROM orders)
=>
unchanged
