-- Counts and sums of whole numbers are divided exactly.

-- schema: trade
SELECT 100 * COUNT(*) FILTER(WHERE total > 5) / COUNT(*) FROM orders
=>
SELECT CAST(100 * COUNT(*) FILTER(WHERE total > 5) AS DECIMAL) / COUNT(*) FROM orders

-- schema: trade
SELECT status, COUNT(*) * 100 / (SELECT COUNT(*) FROM orders) FROM orders GROUP BY status
=>
SELECT status, CAST(COUNT(*) * 100 AS DECIMAL) / (SELECT COUNT(*) FROM orders) FROM orders GROUP BY status

-- schema: trade
SELECT SUM(CASE WHEN total > 5 THEN 1 ELSE 0 END) / NULLIF(COUNT(*), 0) FROM orders
=>
SELECT CAST(SUM(CASE WHEN total > 5 THEN 1 ELSE 0 END) AS DECIMAL) / NULLIF(COUNT(*), 0) FROM orders

-- it is exact
-- schema: trade
SELECT 100.0 * COUNT(*) FILTER(WHERE total > 5) / COUNT(*), AVG(total) / COUNT(*), SUM(COUNT(*)) OVER () / COUNT(*) FROM orders
=>
unchanged

-- of one row
-- schema: trade
SELECT total / 10 FROM orders
=>
unchanged
