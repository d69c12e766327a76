-- Texts that are summed, averaged or compared with a number are read as numbers. What each text gives is tested apart.

SELECT SUM(capacity) FROM stadium
=>
SELECT SUM(CAST(REPLACE(SUBSTRING(capacity FROM '^\s*([-+]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)([.][0-9]+)?)(?![0-9.,]|[-/:eE][-+]?[0-9])'), ',', '') AS DECIMAL)) FROM stadium

SELECT AVG(capacity) FROM stadium WHERE capacity > 3
=>
SELECT AVG(CAST(REPLACE(SUBSTRING(capacity FROM '^\s*([-+]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)([.][0-9]+)?)(?![0-9.,]|[-/:eE][-+]?[0-9])'), ',', '') AS DECIMAL)) FROM stadium WHERE CAST(REPLACE(SUBSTRING(capacity FROM '^\s*([-+]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)([.][0-9]+)?)(?![0-9.,]|[-/:eE][-+]?[0-9])'), ',', '') AS DECIMAL) > 3

SELECT s.name FROM stadium AS s WHERE s.capacity = 1200
=>
SELECT s.name FROM stadium AS s WHERE CAST(REPLACE(SUBSTRING(s.capacity FROM '^\s*([-+]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)([.][0-9]+)?)(?![0-9.,]|[-/:eE][-+]?[0-9])'), ',', '') AS DECIMAL) = 1200

SELECT name FROM stadium WHERE capacity <> 3 OR capacity <= 90
=>
SELECT name FROM stadium WHERE CAST(REPLACE(SUBSTRING(capacity FROM '^\s*([-+]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)([.][0-9]+)?)(?![0-9.,]|[-/:eE][-+]?[0-9])'), ',', '') AS DECIMAL) <> 3 OR CAST(REPLACE(SUBSTRING(capacity FROM '^\s*([-+]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)([.][0-9]+)?)(?![0-9.,]|[-/:eE][-+]?[0-9])'), ',', '') AS DECIMAL) <= 90

-- the greatest of texts runs, and texts are compared with a text
SELECT MAX(capacity) FROM stadium WHERE capacity > '3'
=>
unchanged

SELECT SUM(stadium_id) FROM stadium WHERE stadium_id > 3
=>
unchanged
