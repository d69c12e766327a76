-- Takes texts that are days apart as days, which PostgreSQL refuses as they stand.

-- schema: reports
-- days: report.due = DD.MM.YYYY
SELECT EXTRACT(MONTH FROM due), COUNT(*) FROM report GROUP BY EXTRACT(MONTH FROM due)
=>
SELECT EXTRACT(MONTH FROM TO_DATE(due, 'DD.MM.YYYY')), COUNT(*) FROM report GROUP BY EXTRACT(MONTH FROM TO_DATE(due, 'DD.MM.YYYY'))

-- schema: reports
-- days: report.due = DD.MM.YYYY
SELECT DATE_TRUNC('MONTH', CAST(r.due AS DATE)) FROM report AS r
=>
SELECT DATE_TRUNC('MONTH', TO_DATE(r.due, 'DD.MM.YYYY')) FROM report AS r

-- read so already
-- schema: reports
-- days: report.due = DD.MM.YYYY
SELECT EXTRACT(MONTH FROM TO_DATE(due, 'DD.MM.YYYY')) FROM report
=>
unchanged
