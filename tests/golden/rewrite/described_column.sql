-- The column that a comment calls what the question asks for.

-- schema: plant
-- question: What is the highest oil pressure at the bearing?
SELECT MAX(p02) FROM log
=>
SELECT MAX(p01) FROM log

-- schema: plant
-- question: When was the oil pressure at the bearing lowest?
SELECT taken_at FROM log WHERE p02 > 0 ORDER BY p02 LIMIT 1
=>
SELECT taken_at FROM log WHERE p01 > 0 ORDER BY p01 LIMIT 1

-- it is read
-- schema: plant
-- question: When was the oil pressure at the bearing lowest?
SELECT p02 FROM log ORDER BY p01 LIMIT 1
=>
unchanged

-- the question says the other's name
-- schema: plant
-- question: What is p02 without the oil pressure at the bearing?
SELECT MAX(p02) FROM log
=>
unchanged

-- a part of a description is none
-- schema: plant
-- question: What is the oil pressure?
SELECT MAX(p02) FROM log
=>
unchanged
