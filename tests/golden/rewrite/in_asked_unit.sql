-- How long something took, as a number.

-- schema: jobs
-- question: How many hours does a job take on average?
SELECT AVG(closed_at - opened_at) FROM job
=>
SELECT EXTRACT(EPOCH FROM AVG(closed_at - opened_at)) / 3600 FROM job

-- schema: jobs
-- question: title and length in days of each job
SELECT title, closed_at - opened_at AS length FROM job
=>
SELECT title, EXTRACT(EPOCH FROM closed_at - opened_at) / 86400 AS length FROM job

-- no unit is said, or only when it was
-- schema: jobs
-- question: How long does a job take?
SELECT AVG(closed_at - opened_at) FROM job
=>
unchanged

-- schema: jobs
-- question: How long did jobs of the last 30 days take?
SELECT AVG(closed_at - opened_at) FROM job
=>
unchanged
