-- Reads texts that are days as days, in the form that they have.

-- schema: reports
-- days: report.due = DD.MM.YYYY
SELECT device FROM report WHERE due >= '2026-05-01' AND due < '2026-06-01'
=>
SELECT device FROM report WHERE TO_DATE(due, 'DD.MM.YYYY') >= '2026-05-01' AND TO_DATE(due, 'DD.MM.YYYY') < '2026-06-01'

-- schema: reports
-- days: report.due = DD.MM.YYYY
SELECT r.device FROM report AS r WHERE r.due BETWEEN '2026-05-01' AND '2026-05-31' ORDER BY r.due DESC
=>
SELECT r.device FROM report AS r WHERE TO_DATE(r.due, 'DD.MM.YYYY') BETWEEN '2026-05-01' AND '2026-05-31' ORDER BY TO_DATE(r.due, 'DD.MM.YYYY') DESC

-- as PostgreSQL orders the texts
-- schema: reports
-- days: report.due = YYYY-MM-DD
SELECT device FROM report WHERE due >= '2026-05-01' ORDER BY due
=>
unchanged

-- another column, and no day
-- schema: reports
-- days: report.due = DD.MM.YYYY
SELECT device FROM report WHERE due = '03.05.2026' OR device > '2026-05-01' ORDER BY device
=>
unchanged

-- a period is meant, of which that is a day
-- schema: reports
-- question: Which reports were due in May 2026?
-- days: report.due = DD.MM.YYYY
SELECT device FROM report WHERE due = '28.05.2026'
=>
SELECT device FROM report WHERE (TO_DATE(due, 'DD.MM.YYYY') >= '2026-05-01' AND TO_DATE(due, 'DD.MM.YYYY') < '2026-06-01')
