-- What questions are about, for those who describe it; and which allowed columns hold codes.

CREATE VIEW nl_catalog.asked_about WITH (security_barrier) AS
WITH asked AS MATERIALIZED (
    SELECT q.question, q.database, q.written
    FROM (SELECT rtrim(lower(q.question), ' .?!;') AS question,
                 coalesce(q.reply #>> '{rows,0,database}', split_part(r.detail, '; tables ', 1)) AS database,
                 coalesce(q.reply #>> '{rows,0,sql}', pgparley.likeliest(q.reply), split_part(r.detail, '; tables ', 2)) AS written
          FROM (SELECT * FROM pgparley.question WHERE expires_at > now() ORDER BY asked_at DESC LIMIT 2000) AS q
               LEFT JOIN LATERAL (SELECT * FROM pgparley.routed(q.reply) LIMIT 1) AS r ON true) AS q
    WHERE q.database IN (SELECT pgparley.open_databases())
), word AS MATERIALIZED (
    SELECT DISTINCT a.question, a.database, w.word
    FROM asked a CROSS JOIN LATERAL regexp_split_to_table(lower(a.written), '[^[:alnum:]_$]+') AS w (word)
), "table" AS MATERIALIZED (
    SELECT w.question, w.database, e.element
    FROM word w JOIN pgparley.element e ON e.database = w.database AND e.place = 0 AND lower(e.element[2]) = w.word
), named AS (
    SELECT t.question, t.database, t.element FROM "table" t
    UNION ALL
    SELECT t.question, t.database, e.element
    FROM "table" t
         JOIN pgparley.element e ON e.database = t.database AND e.place > 0 AND e.element[1:2] = t.element
         JOIN word w ON w.database = t.database AND w.question = t.question AND w.word = lower(e.element[3])
)
SELECT n.database, pgparley.written(n.database, n.element) AS element, count(DISTINCT n.question) AS questions
FROM named n GROUP BY n.database, n.element;
COMMENT ON VIEW nl_catalog.asked_about IS 'Tables and columns of the likeliest statements of the last 2,000 questions that are kept, and how many different questions each is in.';

CREATE OR REPLACE VIEW nl_catalog.allowed_values WITH (security_barrier) AS
SELECT v.database, pgparley.written(v.database, ARRAY[v.schema, v."table", v."column"]) AS element,
       cardinality(v.stored) AS kept, v.more, v.read_at, v.problem, v.personal, v.personal_allowed,
       cardinality(v.stored) BETWEEN 2 AND 12 AND NOT v.more
           AND (SELECT bool_and(length(s) <= 4 AND s ~ '[[:alpha:]]' AND s = upper(s)) FROM unnest(v.stored) AS s) AS codes
FROM pgparley.value_column v
WHERE v.database IN (SELECT pgparley.open_databases());
COMMENT ON COLUMN nl_catalog.allowed_values.codes IS 'The values are few, short and in capitals: only a description tells what they mean.';

DO $$
BEGIN
    PERFORM nl_catalog.create_roles();
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN PERFORM nl_catalog.create_roles();
    WHEN insufficient_privilege THEN NULL;
END
$$;
