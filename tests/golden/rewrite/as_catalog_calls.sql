-- Reads what the question calls as the catalog does.

-- schema: clinics
-- question: What is the sum of all visit fees in the north clinic?
SELECT SUM(visit.fee) FROM south.visit
=>
SELECT SUM(visit.fee) FROM north.visit

-- schema: clinics
-- question: How many visits has each patient of the south clinic?
SELECT p.name, COUNT(*) FROM north.patient AS p JOIN north.visit AS v ON v.patient_id = p.patient_id GROUP BY p.name
=>
SELECT p.name, COUNT(*) FROM south.patient AS p JOIN south.visit AS v ON v.patient_id = p.patient_id GROUP BY p.name

-- both are named
-- schema: clinics
-- question: How many visits have the north and the south clinic together?
SELECT COUNT(*) FROM north.visit
=>
unchanged

-- none is named
-- schema: clinics
-- question: How many visits are there?
SELECT COUNT(*) FROM north.visit
=>
unchanged

-- it is read already
-- schema: clinics
-- question: Who came to the north clinic and not to another?
SELECT a.name FROM north.patient AS a LEFT JOIN south.patient AS b ON a.name = b.name
=>
unchanged

-- columns that say the schema
-- schema: clinics
-- question: What is the sum of all visit fees in the north clinic?
SELECT SUM(south.visit.fee) FROM south.visit
=>
SELECT SUM(north.visit.fee) FROM north.visit

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
