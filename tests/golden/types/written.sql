-- What a model that follows instructions may write about such columns, and what it is asked. All of it is right.

-- How many rooms have a beamer?
SELECT count(*) FROM room WHERE 'beamer' = ANY(features);

-- How many rooms have a beamer?
SELECT count(*) FROM room WHERE features @> ARRAY['beamer'];

-- How many rooms have a beamer?
SELECT count(*) FROM room WHERE features @> '{beamer}';

-- How many rooms have a beamer?
SELECT count(DISTINCT r.room_id) FROM room r, unnest(r.features) AS f(feature) WHERE f.feature = 'beamer';

-- How many rooms have a beamer?
SELECT count(*) FROM room WHERE array_position(features,'beamer') IS NOT NULL;

-- How many rooms have a beamer?
SELECT count(*) FROM room WHERE EXISTS (SELECT 1 FROM unnest(features) f WHERE f ILIKE 'beamer');

-- How many rooms have each feature?
SELECT f AS feature, count(*) FROM room, unnest(features) AS f GROUP BY f;

-- How many rooms have each feature?
SELECT unnest(features) AS feature, count(*) FROM room GROUP BY 1;

-- How many rooms have each feature?
SELECT f.feature, count(*) FROM room r CROSS JOIN LATERAL unnest(r.features) AS f(feature) GROUP BY f.feature;

-- Which rooms have no kitchen?
SELECT room_name FROM room WHERE NOT ('kitchen' = ANY(features));

-- Which rooms have no kitchen?
SELECT room_name FROM room WHERE 'kitchen' <> ALL(features);

-- Which rooms have no kitchen?
SELECT room_name FROM room WHERE NOT features && ARRAY['kitchen'];

-- How many features does each room have?
SELECT room_name, cardinality(features) FROM room;

-- How many features does each room have?
SELECT room_name, array_length(features, 1) FROM room;

-- Who stays on 2026-05-03?
SELECT guest FROM booking WHERE stay @> DATE '2026-05-03';

-- Who stays on 2026-05-03?
SELECT guest FROM booking WHERE '2026-05-03'::date <@ stay;

-- Who stays on 2026-05-03?
SELECT guest FROM booking WHERE lower(stay) <= '2026-05-03' AND (upper(stay) > '2026-05-03' OR upper_inf(stay));

-- Which bookings overlap May 2026?
SELECT booking_id FROM booking WHERE stay && daterange('2026-05-01','2026-06-01');

-- Which bookings overlap May 2026?
SELECT booking_id FROM booking WHERE stay && '[2026-05-01,2026-06-01)'::daterange;

-- How many nights does each guest stay?
SELECT guest, sum(upper(stay) - lower(stay)) FROM booking GROUP BY guest;

-- How many calls were there on 2 May 2026 in Vienna?
SELECT count(*) FROM call WHERE (began AT TIME ZONE 'Europe/Vienna')::date = '2026-05-02';

-- How many calls were there on 2 May 2026 in Vienna?
SELECT count(*) FROM call WHERE began >= TIMESTAMP '2026-05-02' AT TIME ZONE 'Europe/Vienna' AND began < TIMESTAMP '2026-05-03' AT TIME ZONE 'Europe/Vienna';

-- How many calls were there on 2 May 2026 in Vienna?
SELECT count(*) FROM call WHERE date_trunc('day', began, 'Europe/Vienna') = '2026-05-02 00:00 Europe/Vienna';

-- Which calls lasted longer than half an hour?
SELECT call_id FROM call WHERE lasted > interval '30 minutes';

-- Which calls lasted longer than half an hour?
SELECT call_id FROM call WHERE extract(epoch from lasted) > 1800;

-- How many calls came from the network 10.0.0.0/16?
SELECT count(*) FROM call WHERE host << '10.0.0.0/16';

-- How many calls came from the network 10.0.0.0/16?
SELECT count(*) FROM call WHERE host <<= inet '10.0.0.0/16';

-- Which papers are about water?
SELECT title FROM paper WHERE words @@ to_tsquery('english','water');

-- Which papers are about water?
SELECT title FROM paper WHERE words @@ plainto_tsquery('water');

-- Which papers are about water?
SELECT title FROM paper WHERE body ILIKE '%water%';

-- Which papers did Sato write?
SELECT title FROM paper WHERE meta @> '{"authors": [{"name": "Sato"}]}';

-- Which papers did Sato write?
SELECT title FROM paper WHERE EXISTS (SELECT 1 FROM jsonb_array_elements(meta->'authors') a WHERE a->>'name' = 'Sato');

-- Which papers did Sato write?
SELECT DISTINCT p.title FROM paper p, jsonb_array_elements(p.meta->'authors') AS a WHERE a->>'name' = 'Sato';

-- Which papers did Sato write?
SELECT title FROM paper WHERE jsonb_path_exists(meta, '$.authors[*] ? (@.name == "Sato")');

-- How many open papers are there?
SELECT count(*) FROM paper WHERE (meta->>'open')::boolean;

-- How many open papers are there?
SELECT count(*) FROM paper WHERE meta->>'open' = 'true';

-- How many open papers are there?
SELECT count(*) FROM paper WHERE meta->'open' = 'true'::jsonb;

-- How many open papers are there?
SELECT count(*) FROM paper WHERE (meta->'open')::boolean;

-- How many authors does each paper have?
SELECT title, jsonb_array_length(meta->'authors') FROM paper;

-- What is the total net of paid bills?
SELECT sum(net) FROM bill WHERE status = 20 AND deleted_at IS NULL;

-- What is the total net of paid bills?
SELECT coalesce(sum(net),0) FROM bill WHERE status IN (20) AND deleted_at IS NULL;

-- What is the median net of the bills?
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY net) FROM bill;

-- What is the running total of net by bill?
SELECT bill_id, sum(net) OVER (ORDER BY bill_id) FROM bill;
