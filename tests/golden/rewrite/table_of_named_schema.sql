-- Reads the tables of the schema that the question names.

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
