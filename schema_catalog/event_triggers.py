"""How a registered database tells by itself that its schema has changed, where its DBA allows that.

Owns the event trigger's SQL and its channel. Installs nothing: event triggers are for superusers (PostgreSQL docs,
CREATE EVENT TRIGGER), and the catalog's login need not be one.
"""

from __future__ import annotations

from schema_catalog.pg import Connection

CHANNEL = "pgparley_schema"

_NOTHING = """\
BEGIN;
DROP EVENT TRIGGER IF EXISTS pgparley_changed;
DROP EVENT TRIGGER IF EXISTS pgparley_dropped;
DROP SCHEMA IF EXISTS pgparley_notice CASCADE;
"""

REMOVE = f"{_NOTHING}COMMIT;\n"

# The schema is made anew: replacing a function of somebody who made one of that name before would leave it theirs.
INSTALL = f"""\
{_NOTHING}CREATE SCHEMA pgparley_notice;
CREATE FUNCTION pgparley_notice.schema_changed() RETURNS event_trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_EVENT = 'sql_drop' THEN
        PERFORM pg_notify('{CHANNEL}', '') FROM pg_event_trigger_dropped_objects() d WHERE NOT d.is_temporary LIMIT 1;
    ELSE
        PERFORM pg_notify('{CHANNEL}', '') FROM pg_event_trigger_ddl_commands() c
        WHERE c.schema_name IS DISTINCT FROM 'pg_temp' LIMIT 1;
    END IF;
END
$$;
CREATE EVENT TRIGGER pgparley_changed ON ddl_command_end EXECUTE FUNCTION pgparley_notice.schema_changed();
CREATE EVENT TRIGGER pgparley_dropped ON sql_drop EXECUTE FUNCTION pgparley_notice.schema_changed();
COMMIT;
"""

_INSTALLED = """
    SELECT count(*) = 2 FROM pg_catalog.pg_event_trigger
    WHERE evtname IN ('pgparley_changed', 'pgparley_dropped') AND evtenabled IN ('O', 'A')
"""


async def installed(connection: Connection) -> bool:
    """Whether the database of `connection` tells; raises asyncpg's errors."""
    found: bool = await connection.fetchval(_INSTALLED)
    return found
