-- The questions of docs/surface.md, What can be asked, each with a statement that came of it and was executed.

-- Show the titles of waiting cases of high severity
SELECT title FROM helpdesk_case WHERE state::text = 'WAITING' AND severity >= 'HIGH';
-- What is the average temperature reported by device D-7?
SELECT AVG(CAST(payload ->> 'temperature' AS double precision)) FROM device_report WHERE device = 'D-7';
-- How many rooms have each feature?
SELECT f AS feature, count(*) FROM room, unnest(features) AS f GROUP BY f;
-- Which bookings overlap May 2026?
SELECT booking_id FROM booking WHERE stay && daterange('2026-05-01','2026-06-01');
-- What was paid last month?
SELECT SUM(amt) FROM pay WHERE pd_on >= '2020-12-01' AND pd_on < '2021-01-01';
-- How many hours does a repair take on average?
SELECT EXTRACT(EPOCH FROM AVG(closed_at - opened_at)) / 3600 FROM repair_job;
-- How many calls were there on 2 May 2026 in Vienna?
SELECT count(*) FROM call WHERE (began AT TIME ZONE 'Europe/Vienna')::date = '2026-05-02';
-- Which bills were due in May 2026?
SELECT bill_no FROM supplier_bill WHERE TO_DATE(due, 'DD.MM.YYYY') BETWEEN '2026-05-01' AND '2026-05-31';
-- How many patients do both clinics have together?
SELECT COUNT(*) FROM (SELECT patient_id FROM north.patient UNION ALL SELECT patient_id FROM south.patient) AS all_patients;
-- How many active members are there?
SELECT COUNT(*) AS active_members FROM "Member" AS m WHERE m."isActive" = TRUE;
-- What is the total net of paid bills?
SELECT sum(net) FROM bill WHERE status = 20 AND deleted_at IS NULL;
-- For each project, show its total hours and its total expenses
WITH h AS (SELECT project_id, SUM(hours) AS hours FROM time_entry GROUP BY project_id), x AS (SELECT project_id, SUM(amount) AS amount FROM expense GROUP BY project_id) SELECT p.project_name, h.hours, x.amount FROM project p LEFT JOIN h USING (project_id) LEFT JOIN x USING (project_id);
-- Who is the boss of Quinn?
SELECT staff_name FROM staff WHERE staff_id = (SELECT boss_id FROM staff WHERE staff_name = 'Quinn');
-- Which stadium is the largest?
SELECT name FROM stadium ORDER BY capacity DESC NULLS LAST LIMIT 1;
-- How many shipments were not carried by Nordfracht?
SELECT COUNT(*) FROM shipment WHERE carrier <> 'Nordfracht' OR carrier IS NULL;
-- What percentage of the replies is satisfied?
SELECT 100.0 * SUM(CASE WHEN satisfied THEN 1 ELSE 0 END) / COUNT(*) FROM survey_reply;
-- How many records did Bjork release?
SELECT COUNT(*) FROM record WHERE band_id = (SELECT band_id FROM band WHERE band_name = 'Björk');
-- What was the highest oil pressure at the main bearing?
SELECT p122_prs FROM turbine_log WHERE p122_prs IS NOT NULL ORDER BY p122_prs DESC LIMIT 1;
-- How many calls came from the network 10.0.0.0/16?
SELECT count(*) FROM call WHERE host << '10.0.0.0/16';
