-- Other statements that are right, as strong models write them. A line each: the question's id, then the statement.
-- c01_camel-1
SELECT COUNT(*) AS active_members FROM "Member" AS m WHERE m."isActive" = TRUE;
-- c01_camel-2
SELECT m."firstName", m."lastName" FROM "Member" m WHERE (SELECT COUNT(*) FROM "Loan" l WHERE l."memberId" = m."memberId") > 1;
-- c01_camel-4
SELECT l."loanId" FROM public."Loan" l WHERE l."to" IS NULL ORDER BY l."loanId";
-- c02_schemas-3
SELECT COUNT(*) FROM (SELECT patient_id FROM north.patient UNION ALL SELECT patient_id FROM south.patient) AS all_patients;
-- c02_schemas-3
SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM north.patient UNION ALL SELECT COUNT(*) FROM south.patient) t;
-- c03_enum-1
SELECT COUNT(*) FROM helpdesk_case WHERE state = 'IN_PROGRESS'::ticket_state;
-- c03_enum-2
SELECT title FROM helpdesk_case WHERE state::text = 'WAITING' AND severity >= 'HIGH';
-- c03_enum-3
SELECT COUNT(*) FROM helpdesk_case WHERE state IN ('NEW', 'IN_PROGRESS', 'WAITING');
-- c03_enum-4
SELECT title FROM helpdesk_case ORDER BY CASE severity WHEN 'HIGH' THEN 3 WHEN 'MEDIUM' THEN 2 ELSE 1 END DESC;
-- c04_jsonb-1
SELECT AVG(CAST(payload ->> 'temperature' AS double precision)) FROM device_report WHERE device = 'D-7';
-- c04_jsonb-1
SELECT AVG((payload -> 'temperature')::numeric) FROM device_report WHERE device = 'D-7';
-- c04_jsonb-2
SELECT DISTINCT device FROM device_report WHERE payload @> '{"firmware": "2.1"}';
-- c04_jsonb-2
SELECT device FROM device_report WHERE payload #>> '{firmware}' = '2.1' GROUP BY device;
-- c05_fanout-1
SELECT p.project_name, t.total_hours, e.total_expenses FROM project p LEFT JOIN (SELECT project_id, SUM(hours) AS total_hours FROM time_entry GROUP BY project_id) t ON t.project_id = p.project_id LEFT JOIN (SELECT project_id, SUM(amount) AS total_expenses FROM expense GROUP BY project_id) e ON e.project_id = p.project_id;
-- c05_fanout-1
WITH h AS (SELECT project_id, SUM(hours) AS hours FROM time_entry GROUP BY project_id), x AS (SELECT project_id, SUM(amount) AS amount FROM expense GROUP BY project_id) SELECT p.project_name, h.hours, x.amount FROM project p LEFT JOIN h USING (project_id) LEFT JOIN x USING (project_id);
-- c05_fanout-1
SELECT p.project_name, h.total, x.total FROM project p LEFT JOIN LATERAL (SELECT SUM(t.hours) AS total FROM time_entry t WHERE t.project_id = p.project_id) h ON TRUE LEFT JOIN LATERAL (SELECT SUM(e.amount) AS total FROM expense e WHERE e.project_id = p.project_id) x ON TRUE;
-- c05_fanout-2
SELECT SUM(e.amount) FROM expense e WHERE EXISTS (SELECT 1 FROM time_entry t WHERE t.project_id = e.project_id AND t.person = 'Ines');
-- c05_fanout-2
SELECT SUM(e.amount) FROM expense e JOIN (SELECT DISTINCT project_id FROM time_entry WHERE person = 'Ines') t ON t.project_id = e.project_id;
-- c05_fanout-3
SELECT t.person, COUNT(DISTINCT p.project_id) AS projects FROM time_entry t JOIN project p ON p.project_id = t.project_id GROUP BY t.person ORDER BY projects DESC;
-- c06_matview-1
SELECT revenue FROM monthly_revenue WHERE revenue_month BETWEEN DATE '2026-03-01' AND DATE '2026-03-31';
-- c06_matview-1
SELECT SUM(v1 * v2) FROM pos_raw WHERE ts >= '2026-03-01' AND ts < '2026-04-01';
-- c06_matview-2
SELECT revenue_month FROM best_month;
-- c06_matview-2
SELECT revenue_month FROM monthly_revenue WHERE revenue = (SELECT MAX(revenue) FROM monthly_revenue);
-- c07_partition-2
SELECT COUNT(*) FROM measurement WHERE EXTRACT(YEAR FROM taken_at) = 2026 AND EXTRACT(MONTH FROM taken_at) = 2;
-- c07_partition-2
SELECT COUNT(*) FROM measurement WHERE DATE_TRUNC('month', taken_at) = '2026-02-01';
-- c07_partition-2
SELECT COUNT(*) FROM measurement WHERE TO_CHAR(taken_at, 'YYYY-MM') = '2026-02';
-- c08_reltime-1
SELECT COUNT(*) FROM repair_job WHERE DATE_TRUNC('month', opened_at) = DATE_TRUNC('month', CURRENT_DATE - INTERVAL '1 month');
-- c08_reltime-1
SELECT COUNT(*) FROM repair_job WHERE opened_at >= DATE_TRUNC('month', CURRENT_DATE) - INTERVAL '1 month' AND opened_at < DATE_TRUNC('month', CURRENT_DATE);
-- c08_reltime-2
SELECT COUNT(*) FROM repair_job WHERE opened_at >= CURRENT_DATE - INTERVAL '2 years';
-- c08_reltime-3
SELECT COUNT(*) FROM repair_job WHERE opened_at::date = CURRENT_DATE;
-- c08_reltime-3
SELECT COUNT(*) FROM repair_job WHERE DATE(opened_at) = CURRENT_DATE;
-- c08_reltime-4
SELECT COUNT(*) FROM repair_job WHERE EXTRACT(YEAR FROM opened_at) = EXTRACT(YEAR FROM CURRENT_DATE);
-- c08_reltime-5
SELECT COUNT(*) FROM repair_job WHERE opened_at >= CURRENT_TIMESTAMP - INTERVAL '7 days' AND opened_at <= CURRENT_TIMESTAMP;
-- c08_reltime-6
SELECT AVG(EXTRACT(EPOCH FROM (closed_at - opened_at)) / 3600.0) AS avg_hours FROM repair_job WHERE closed_at IS NOT NULL;
-- c08_reltime-6
SELECT EXTRACT(EPOCH FROM AVG(closed_at - opened_at)) / 3600 FROM repair_job;
-- c10_textdate-1
SELECT bill_no FROM supplier_bill WHERE due LIKE '%.05.2026';
-- c10_textdate-1
SELECT bill_no FROM supplier_bill WHERE TO_DATE(due, 'DD.MM.YYYY') BETWEEN '2026-05-01' AND '2026-05-31';
-- c10_textdate-1
SELECT bill_no FROM supplier_bill WHERE RIGHT(due, 7) = '05.2026';
-- c10_textdate-2
SELECT bill_no FROM supplier_bill ORDER BY RIGHT(due, 4) DESC, SUBSTRING(due FROM 4 FOR 2) DESC, LEFT(due, 2) DESC LIMIT 1;
-- c10_textdate-2
SELECT bill_no FROM supplier_bill WHERE TO_DATE(due, 'DD.MM.YYYY') = (SELECT MAX(TO_DATE(due, 'DD.MM.YYYY')) FROM supplier_bill);
-- c11_null-1
SELECT COUNT(*) FROM shipment WHERE carrier <> 'Nordfracht' OR carrier IS NULL;
-- c11_null-1
SELECT COUNT(*) FROM shipment WHERE COALESCE(carrier, '') != 'Nordfracht';
-- c11_null-1
SELECT COUNT(*) FROM shipment WHERE (carrier = 'Nordfracht') IS NOT TRUE;
-- c11_null-2
SELECT c.client_name FROM client c LEFT JOIN shipment s ON s.client_no = c.client_no WHERE s.shipment_no IS NULL;
-- c11_null-2
SELECT client_name FROM client WHERE client_no NOT IN (SELECT client_no FROM shipment WHERE client_no IS NOT NULL);
-- c11_null-2
SELECT client_name FROM client WHERE client_no IN (SELECT client_no FROM client EXCEPT SELECT client_no FROM shipment);
-- c11_null-3
SELECT c.client_name, COUNT(s.shipment_no) FROM client c LEFT JOIN shipment s ON s.client_no = c.client_no GROUP BY c.client_no, c.client_name ORDER BY c.client_name;
-- c11_null-3
SELECT c.client_name, (SELECT COUNT(*) FROM shipment s WHERE s.client_no = c.client_no) FROM client c;
-- c11_null-4
SELECT COUNT(*) - COUNT(carrier) FROM shipment;
-- c12_percent-1
SELECT 100.0 * SUM(CASE WHEN satisfied THEN 1 ELSE 0 END) / COUNT(*) FROM survey_reply;
-- c12_percent-1
SELECT AVG(satisfied::int) * 100 FROM survey_reply;
-- c12_percent-1
SELECT (COUNT(*) FILTER (WHERE satisfied))::numeric / NULLIF(COUNT(*), 0) * 100 FROM survey_reply;
-- c12_percent-2
SELECT region, 100.0 * AVG(CASE WHEN satisfied THEN 1 ELSE 0 END) FROM survey_reply GROUP BY region;
-- c12_percent-3
SELECT region, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () FROM survey_reply GROUP BY region;
-- c12_percent-3
WITH total AS (SELECT COUNT(*) AS n FROM survey_reply) SELECT r.region, 100.0 * COUNT(*) / total.n FROM survey_reply r CROSS JOIN total GROUP BY r.region, total.n;
-- c14_typo-1
SELECT COUNT(*) FROM record r JOIN band b ON b.band_id = r.band_id WHERE b.band_name ILIKE 'Bj_rk';
-- c14_typo-1
SELECT COUNT(*) FROM record WHERE band_id = (SELECT band_id FROM band WHERE band_name = 'Björk');
-- c14_typo-1
SELECT COUNT(*) FROM record r JOIN band b USING (band_id) WHERE LOWER(b.band_name) = 'björk';
-- c14_typo-2
SELECT r.title FROM record r JOIN band b ON r.band_id = b.band_id WHERE b.band_name = 'Motörhead' AND r.released <= 1979;
-- c14_typo-3
SELECT COUNT(DISTINCT band_id) FROM band WHERE country IN ('Island', 'Iceland');
-- c16_german-1
SELECT COUNT(*) AS anzahl FROM kunde WHERE ort ILIKE 'münchen';
-- c16_german-2
SELECT name FROM kunde k WHERE EXISTS (SELECT 1 FROM rechnung r WHERE r.kundennr = k.kundennr AND r.bezahlt = FALSE);
-- c16_german-3
SELECT COALESCE(SUM(betrag), 0) AS gesamtbetrag FROM rechnung WHERE bezahlt IS FALSE;
-- c18_followup-1
SELECT COUNT(*) FROM subscriber WHERE joined_on BETWEEN '2025-01-01' AND '2025-12-31';
-- c18_followup-2
SELECT COUNT(*) FROM subscriber WHERE joined_on >= DATE '2026-01-01' AND joined_on < DATE '2027-01-01';
-- c18_followup-3
SELECT COUNT(*) FROM subscriber WHERE joined_on >= '2026-01-01' AND joined_on < '2027-01-01' AND LOWER(plan) = 'gold';
-- c19_rows-1
SELECT p.* FROM parcel AS p ORDER BY p.parcel_id;
-- c19_rows-2
SELECT parcel_id, weight_kg FROM parcel WHERE weight_kg > 30.0 ORDER BY weight_kg DESC;
-- c21_wide-1
SELECT p122_prs FROM turbine_log WHERE p122_prs IS NOT NULL ORDER BY p122_prs DESC LIMIT 1;
-- c21_wide-3
SELECT taken_at FROM turbine_log WHERE p077_cur = (SELECT MIN(p077_cur) FROM turbine_log);
-- c24_selfjoin-1
SELECT staff_name FROM staff WHERE staff_id = (SELECT boss_id FROM staff WHERE staff_name = 'Quinn');
-- c24_selfjoin-2
SELECT staff_name FROM staff s WHERE salary > (SELECT salary FROM staff b WHERE b.staff_id = s.boss_id);
-- c24_selfjoin-3
SELECT s.staff_name FROM staff s LEFT JOIN staff b ON b.staff_id = s.boss_id WHERE b.staff_id IS NULL;
-- c24_selfjoin-4
SELECT b.staff_name AS boss, COUNT(s.staff_id) AS reports FROM staff b INNER JOIN staff s ON s.boss_id = b.staff_id GROUP BY b.staff_id, b.staff_name ORDER BY reports DESC;
-- c24_selfjoin-4
SELECT b.staff_name, t.n FROM staff b JOIN (SELECT boss_id, COUNT(*) AS n FROM staff WHERE boss_id IS NOT NULL GROUP BY boss_id) t ON t.boss_id = b.staff_id;
