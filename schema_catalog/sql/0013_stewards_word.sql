-- Questions that came to nothing and whose askers want a steward's word: who asked, the statements and the trace stand before
-- stewards, and the asker is told once the question is verified. Other questions stay as they were: nobody sees who asked.

ALTER TABLE pgparley.question
    ADD sent boolean NOT NULL DEFAULT false,
    ADD answered boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN pgparley.question.sent IS 'Its asker agrees to be named to stewards with it.';
COMMENT ON COLUMN pgparley.question.answered IS 'Its asker has been told that a steward answered it.';
CREATE INDEX ON pgparley.question (asker) WHERE sent AND NOT answered;

CREATE OR REPLACE VIEW nl_catalog.failed_questions WITH (security_barrier) AS
SELECT q.asked_at, q.question,
       CASE WHEN v.kind = 'corrected' THEN 'corrected' WHEN v.kind = 'none' THEN 'rejected' ELSE 'abstained' END AS outcome,
       CASE WHEN v.kind = 'none' THEN v.body ELSE q.reply #>> '{rows,0,explanation}' END AS reason,
       coalesce(v.database, q.reply #>> '{rows,0,database}', r.databases[1]) AS database,
       r.databases, coalesce(v_sql.sql, q.reply #>> '{rows,0,sql}', pgparley.likeliest(q.reply)) AS sql, w.words, w.nearest,
       CASE WHEN q.sent THEN q.asker END AS asker,
       CASE WHEN q.sent THEN ARRAY(SELECT each ->> 'sql' FROM jsonb_array_elements(q.reply -> 'rows') WITH ORDINALITY AS rows (each, n)
                                   WHERE each ->> 'sql' IS NOT NULL ORDER BY n) END AS candidates,
       -- Links may hold values of rows.
       CASE WHEN q.sent THEN ARRAY(SELECT concat_ws(': ', line ->> 'stage', line ->> 'event', line ->> 'detail')
                                   FROM jsonb_array_elements(q.reply -> 'trace') WITH ORDINALITY AS lines (line, n)
                                   WHERE line ->> 'stage' <> 'link' ORDER BY n) END AS trace
FROM pgparley.question q
     LEFT JOIN LATERAL (SELECT v.kind, v.database, v.body FROM pgparley.verdict v
                        WHERE v.qid = q.qid ORDER BY v.given_at DESC LIMIT 1) AS v ON true
     LEFT JOIN LATERAL (SELECT v.body AS sql WHERE v.kind = 'corrected') AS v_sql ON true
     CROSS JOIN LATERAL (SELECT coalesce(array_agg(d.name), '{}') AS databases, bool_and(d.name IS NOT NULL) AS whole
                         FROM pgparley.routed(q.reply) AS line
                              LEFT JOIN pgparley.database d ON starts_with(line.detail, d.name || '; tables ')
                                   AND d.name IN (SELECT pgparley.open_databases())) AS r
     CROSS JOIN LATERAL (SELECT coalesce(array_agg(each.word), '{}') AS words, coalesce(array_agg(each.nearest), '{}') AS nearest
                         FROM (SELECT * FROM pgparley.failed_words(q.reply)
                               UNION
                               SELECT t.phrase, pgparley.written(e.database, CASE t.preferred[3] WHEN '*' THEN t.preferred[1:2] ELSE t.preferred END)
                               FROM pgparley.learned_example e JOIN pgparley.learned_vote t ON t.example = e.id
                               WHERE v.kind = 'corrected' AND e.qid = q.qid AND e.kind = 'corrected') AS each) AS w
WHERE q.expires_at > now()
  AND (v.kind IS NOT NULL OR q.reply #>> '{rows,0,kind}' = 'abstain')
  AND (pgparley.is_admin() OR r.whole);
