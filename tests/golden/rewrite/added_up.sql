-- One number of all sides.

-- schema: clinics
-- question: How many patients do both clinics have together?
SELECT COUNT(*) FROM north.patient UNION SELECT COUNT(*) FROM south.patient
=>
SELECT (SELECT COUNT(*) FROM north.patient) + (SELECT COUNT(*) FROM south.patient) AS total

-- each for itself
-- schema: clinics
-- question: How many patients does each clinic have?
SELECT COUNT(*) FROM north.patient UNION ALL SELECT COUNT(*) FROM south.patient
=>
unchanged

-- rows are no numbers
-- schema: clinics
-- question: the patients of both clinics together
SELECT name FROM north.patient UNION SELECT name FROM south.patient
=>
unchanged
