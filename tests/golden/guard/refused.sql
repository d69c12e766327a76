-- Statements that must never run: `-- reason: what the refusal has to name`, then the statement. Blank lines separate them.

-- empty:
;

-- empty:
-- nothing but a comment

-- several statements:
SELECT 1; SELECT 2

-- several statements:
SELECT 1; DROP TABLE customers

-- unreadable:
SELEKT 1

-- unreadable:
SELECT * FROM

-- unreadable:
SELECT 'open

-- unreadable:
SELECT /* open

-- unreadable:
SELECT 1 WHERE CURRENT OF c

-- not a query: INSERT
INSERT INTO customers VALUES (9, 'Eve')

-- not a query: UPDATE
UPDATE customers SET name = 'x'

-- not a query: DELETE
DELETE FROM customers

-- not a query: MERGE
MERGE INTO customers c USING orders o ON c.id = o.customer_id WHEN MATCHED THEN DELETE

-- not a query: TRUNCATE
TRUNCATE customers

-- not a query: DROP
DROP TABLE customers

-- not a query: CREATE
CREATE TABLE t (a int)

-- not a query: CREATE TABLE AS
CREATE TABLE t AS SELECT 1

-- not a query: VIEW
CREATE VIEW v AS SELECT 1

-- not a query: CREATE FUNCTION
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'

-- not a query: CREATE EXTENSION
CREATE EXTENSION dblink

-- not a query: ALTER TABLE
ALTER TABLE customers ADD x int

-- not a query: ALTER SYSTEM
ALTER SYSTEM SET work_mem = '1GB'

-- not a query: GRANT
GRANT ALL ON customers TO PUBLIC

-- not a query: ALTER ROLE
ALTER ROLE postgres SUPERUSER

-- not a query: COPY
COPY customers TO STDOUT

-- not a query: COPY
COPY (SELECT 1) TO PROGRAM 'id'

-- not a query: EXPLAIN
EXPLAIN ANALYZE DELETE FROM customers

-- not a query: EXPLAIN
EXPLAIN SELECT 1

-- not a query: DO
DO $$ BEGIN PERFORM 1; END $$

-- not a query: CALL
CALL p()

-- not a query: PREPARE
PREPARE s AS SELECT 1

-- not a query: EXECUTE
EXECUTE s

-- not a query: DEALLOCATE
DEALLOCATE ALL

-- not a query: VARIABLE SET
SET ROLE postgres

-- not a query: VARIABLE SET
RESET ROLE

-- not a query: VARIABLE SET
SET LOCAL statement_timeout = 0

-- not a query: VARIABLE SHOW
SHOW ALL

-- not a query: TRANSACTION
COMMIT

-- not a query: TRANSACTION
BEGIN READ WRITE

-- not a query: LOCK
LOCK TABLE customers

-- not a query: LISTEN
LISTEN c

-- not a query: NOTIFY
NOTIFY c, 'x'

-- not a query: DECLARE CURSOR
DECLARE c CURSOR FOR SELECT 1

-- not a query: FETCH
FETCH ALL FROM c

-- not a query: VACUUM
VACUUM customers

-- not a query: CLUSTER
CLUSTER customers

-- not a query: REINDEX
REINDEX TABLE customers

-- not a query: CHECK POINT
CHECKPOINT

-- not a query: DISCARD
DISCARD ALL

-- not a query: LOAD
LOAD 'auto_explain'

-- not a query: REFRESH MAT VIEW
REFRESH MATERIALIZED VIEW v

-- not a query: COMMENT
COMMENT ON TABLE customers IS 'x'

-- not a query: SEC LABEL
SECURITY LABEL ON TABLE customers IS 'x'

-- writes: SELECT INTO
SELECT * INTO copy FROM customers

-- writes: SELECT INTO
SELECT * INTO TEMP copy FROM customers

-- writes: DELETE
WITH gone AS (DELETE FROM customers RETURNING *) SELECT * FROM gone

-- writes: INSERT
WITH new AS (INSERT INTO customers VALUES (9) RETURNING id) SELECT id FROM new

-- writes: UPDATE
SELECT * FROM (WITH u AS (UPDATE customers SET name = '' RETURNING id) SELECT id FROM u) s

-- writes: MERGE
WITH m AS (MERGE INTO customers c USING orders o ON true WHEN MATCHED THEN DELETE RETURNING c.id) SELECT * FROM m

-- locks: FOR UPDATE
SELECT * FROM customers FOR UPDATE

-- locks: FOR UPDATE or FOR SHARE
SELECT * FROM customers FOR SHARE SKIP LOCKED

-- locks: lock
SELECT * FROM (SELECT * FROM customers FOR NO KEY UPDATE) s

-- locks: lock
SELECT * FROM customers WHERE id = (SELECT id FROM orders LIMIT 1 FOR KEY SHARE)

-- construct: PARAM REF
SELECT * FROM customers WHERE id = $1

-- construct: SET TO DEFAULT
SELECT DEFAULT

-- construct: XML EXPR
SELECT xmlelement(name foo, 'bar')

-- construct: XML EXPR
SELECT xmlparse(CONTENT '<a/>')

-- construct: XML SERIALIZE
SELECT xmlserialize(CONTENT x AS text) FROM customers

-- construct: RANGE TABLE FUNC
SELECT * FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS c text) x

-- construct: MERGE SUPPORT FUNC
SELECT merge_action()

-- construct: SESSION_USER
SELECT SESSION_USER

-- construct: CURRENT_CATALOG
SELECT CURRENT_CATALOG

-- construct: SQLValue Function in FROM
SELECT * FROM CURRENT_DATE AS d

-- construct: Type Cast in FROM
SELECT x.lo_unlink FROM CAST(16385 AS int) AS x

-- relation: pg_authid
SELECT * FROM pg_authid

-- relation: pg_catalog.pg_shadow
SELECT * FROM pg_catalog.pg_shadow

-- relation: pg_stat_activity
SELECT query FROM pg_stat_activity

-- relation: pg_hba_file_rules
SELECT * FROM "pg_hba_file_rules"

-- relation: pg_settings
SELECT 1 WHERE EXISTS (SELECT FROM pg_settings)

-- relation: pg_class
TABLE pg_class

-- relation: pg_user_mappings
WITH pg_user_mappings AS (SELECT * FROM pg_user_mappings) SELECT * FROM pg_user_mappings

-- relation: pg_toast
SELECT * FROM pg_toast.pg_toast_1255

-- relation: information_schema.tables
SELECT * FROM information_schema.tables

-- relation: names a database
SELECT * FROM shop.public.customers

-- function: pg_read_file
SELECT pg_read_file('/etc/passwd')

-- function: pg_read_binary_file
SELECT encode(pg_catalog.pg_read_binary_file('/etc/passwd'), 'base64')

-- function: pg_ls_dir
SELECT * FROM pg_ls_dir('/')

-- function: pg_stat_file
SELECT (pg_stat_file('/')).*

-- function: lo_import
SELECT lo_import('/etc/passwd')

-- function: lo_export
SELECT lo_export(1, '/tmp/x')

-- function: lo_get
SELECT lo_get(16385)

-- function: lo_from_bytea
SELECT lo_from_bytea(0, 'x')

-- function: pg_sleep
SELECT pg_sleep(60)

-- function: pg_sleep
SELECT "pg_sleep"(60) FROM customers

-- function: pg_sleep_for
SELECT * FROM customers, LATERAL pg_sleep_for('1 hour') s

-- function: pg_sleep
SELECT CASE WHEN true THEN pg_sleep(1) END

-- function: pg_sleep
SELECT count(*) FILTER (WHERE pg_sleep(1) IS NULL) FROM customers

-- function: pg_sleep
SELECT sum(1) OVER (ORDER BY pg_sleep(1)) FROM customers

-- function: pg_sleep
SELECT 1 FROM customers LIMIT (SELECT 1 FROM (SELECT pg_sleep(1)) s)

-- function: pg_sleep
VALUES (pg_sleep(1))

-- function: pg_sleep
SELECT 1 ORDER BY pg_sleep(1)

-- function: pg_sleep
SELECT 1 FROM customers GROUP BY ROLLUP (pg_sleep(1))

-- function: pg_sleep
SELECT JSON_OBJECT('a': pg_sleep(1)::text)

-- function: pg_terminate_backend
SELECT pg_terminate_backend(1)

-- function: pg_cancel_backend
SELECT pg_cancel_backend(pid) FROM (VALUES (1)) v (pid)

-- function: pg_reload_conf
SELECT pg_reload_conf()

-- function: pg_rotate_logfile
SELECT pg_rotate_logfile()

-- function: set_config
SELECT set_config('role', 'postgres', true)

-- function: current_setting
SELECT current_setting('data_directory')

-- function: setseed
SELECT setseed(0.5)

-- function: random
SELECT * FROM customers ORDER BY random() LIMIT 5

-- function: clock_timestamp
SELECT clock_timestamp()

-- function: gen_random_uuid
SELECT gen_random_uuid()

-- function: nextval
SELECT nextval('s')

-- function: setval
SELECT setval('s', 1)

-- function: currval
SELECT currval('s')

-- function: lastval
SELECT lastval()

-- function: pg_advisory_lock
SELECT pg_advisory_lock(1)

-- function: pg_try_advisory_xact_lock
SELECT pg_try_advisory_xact_lock(1)

-- function: txid_current
SELECT txid_current()

-- function: pg_export_snapshot
SELECT pg_export_snapshot()

-- function: pg_notify
SELECT pg_notify('c', 'x')

-- function: pg_logical_emit_message
SELECT pg_logical_emit_message(true, 'a', 'b')

-- function: pg_switch_wal
SELECT pg_switch_wal()

-- function: pg_create_restore_point
SELECT pg_create_restore_point('x')

-- function: pg_promote
SELECT pg_promote()

-- function: pg_stat_reset
SELECT pg_stat_reset()

-- function: pg_restore_relation_stats
SELECT pg_restore_relation_stats('relation', 'customers')

-- function: query_to_xml
SELECT query_to_xml('DELETE FROM customers', true, true, '')

-- function: database_to_xml
SELECT database_to_xml(true, true, '')

-- function: table_to_xml
SELECT table_to_xml('pg_authid', true, true, '')

-- function: cursor_to_xml
SELECT cursor_to_xml('c', 1, true, true, '')

-- function: ts_stat
SELECT * FROM ts_stat('SELECT body FROM bookings')

-- function: ts_rewrite
SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, pg_sleep(1)::text::tsquery')

-- function: dblink
SELECT * FROM dblink('host=evil', 'SELECT 1') AS t (a int)

-- function: dblink_exec
SELECT public.dblink_exec('host=evil', 'DROP TABLE x')

-- function: public.upper
SELECT public.upper('a')

-- function: my_function
SELECT my_function(id) FROM customers

-- function: pg_typeof
SELECT pg_typeof(1)

-- function: pg_get_viewdef
SELECT pg_get_viewdef('v')

-- function: has_table_privilege
SELECT has_table_privilege('customers', 'SELECT')

-- function: obj_description
SELECT obj_description(1259, 'pg_class')

-- function: version
SELECT version()

-- function: current_database
SELECT current_database()

-- function: inet_server_addr
SELECT inet_server_addr()

-- function: pg_collation_for
SELECT COLLATION FOR (name) FROM customers

-- function: to_regclass
SELECT to_regclass('customers')

-- function: regclass
SELECT regclass('pg_authid')

-- function: repeat
SELECT repeat('x', 1000000000)

-- function: array_fill
SELECT array_fill(0, ARRAY[100000000])

-- function: factorial
SELECT factorial(100000)

-- function: xpath
SELECT xpath('/a', '<a/>')

-- function: xmlexists
SELECT xmlexists('/a' PASSING '<a/>')

-- function: pg_ls_waldir
SELECT * FROM ROWS FROM (generate_series(1, 2), pg_ls_waldir()) AS z

-- function: system_time
SELECT * FROM customers TABLESAMPLE system_time (1000)

-- operator: public.=
SELECT 1 OPERATOR(public.=) 1

-- operator: @#@
SELECT 1 @#@ 2

-- operator: public.<
SELECT id FROM customers ORDER BY id USING OPERATOR(public.<)

-- operator: public.=
SELECT 1 OPERATOR(public.=) ANY (SELECT 1)

-- type: regclass
SELECT 'pg_authid'::regclass

-- type: regproc
SELECT CAST('pg_sleep' AS regproc)

-- type: regrole
SELECT regrole 'postgres'

-- type: xml
SELECT '<a/>'::xml

-- type: oid
SELECT 1::oid

-- type: public.mood
SELECT 'happy'::public.mood

-- type: mood
SELECT 'happy'::mood[]

-- unreadable: %
SELECT * FROM json_to_recordset('[]') AS r (a customers.id%TYPE)

-- type: regclass
SELECT * FROM json_to_recordset('[{"a":"pg_authid"}]') AS r (a regclass)

-- type: regclass
SELECT JSON_VALUE('{"a":"pg_authid"}', '$.a' RETURNING regclass)

-- collation: public.mine
SELECT 'a' COLLATE public.mine

-- field: pg_read_file
SELECT f.pg_read_file FROM unnest(ARRAY['/etc/hostname']) AS f

-- field: lo_unlink
SELECT f.lo_unlink FROM generate_series(1, 2) AS f

-- field: nextval
SELECT unnest.nextval FROM unnest(ARRAY['s'])

-- field: pg_read_file
SELECT (f).pg_read_file FROM unnest(ARRAY['/etc/hostname']) AS f

-- field: upper
SELECT ('abc'::text).upper

-- field: pg_restore_relation_stats
SELECT customers.pg_restore_relation_stats FROM customers

-- field: f.set_config
SELECT f.set_config FROM (SELECT 1 AS set_config) f, LATERAL (SELECT f.set_config FROM generate_series(1, 1) AS f) g

-- field: f.lo_creat
SELECT (SELECT f.lo_creat FROM generate_series(1, 1) f) FROM unnest(ARRAY[1]) AS f (lo_creat)

-- function: pg_sleep
SELECT U&"pg\005fsleep"(1)

-- function: pg_sleep
SELECT PG_Sleep /* spaced */ (1)

-- function: Upper
SELECT "Upper"('a')

-- function: pg_sleep
SELECT 'a' || $$b$$ || pg_sleep(1)::text || $q$ $$ $q$

-- relation: pg_authid
SELECT 1 UNION ALL SELECT 1 FROM pg_authid

-- function: nextval
SELECT ARRAY(SELECT nextval('s'))
