-- Takes values out of JSON as what they are used for.

-- schema: reports
SELECT AVG(payload ->> 'heat') FROM report WHERE payload ->> 'heat' > 2
=>
SELECT AVG(CAST((payload ->> 'heat') AS DECIMAL)) FROM report WHERE CAST((payload ->> 'heat') AS DECIMAL) > 2

-- schema: reports
SELECT r.device FROM report AS r WHERE r.payload -> 'state' = 'on' OR r.payload -> 'state' IN ('off')
=>
SELECT r.device FROM report AS r WHERE r.payload ->> 'state' = 'on' OR r.payload ->> 'state' IN ('off')

-- a number already, and a text
-- schema: reports
SELECT SUM(CAST((payload ->> 'heat') AS DECIMAL)) FROM report WHERE payload ->> 'state' = 'on'
=>
unchanged
