"""The console's SHOW commands: columns as PgBouncer 1.25 has them, and rows from the reports of all workers.

Owns the shape and content of every table. New columns stand on the right of PgBouncer's, so that what reads its
tables reads ours. A value that has no meaning without pools is 0 or null.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from proxy.console.grammar import SETTINGS_OF_DRIVERS
from proxy.console.reports import PrewarmedReport, ServerReport, SessionReport, Traffic, WorkerReport
from proxy.console.tables import ResultTable, TypedColumns, Value, columns

_SOCKET = (
    "type user database replication state addr port local_addr local_port connect_time request_time wait wait_us"
    " close_needed ptr link remote_pid tls application_name prepared_statements id"
)
_SOCKET_TYPES = "ssssssisissiiississiq"
_TOTALS = (
    "server_assignment_count xact_count query_count {received} {sent} xact_time query_time wait_time"
    " client_parse_count server_parse_count bind_count"
)
_SUMS = _TOTALS.format(received="received", sent="sent").split()
_AVERAGES = _TOTALS.format(received="recv", sent="sent").split()

_SHAPES: dict[str, TypedColumns] = {
    "active_sockets": (),
    "clients": columns(_SOCKET_TYPES, _SOCKET),
    "config": columns("ssss", "key value default changeable"),
    "databases": columns(
        "ssissiiiissiiiiii",
        "name host port database force_user pool_size min_pool_size reserve_pool_size server_lifetime pool_mode"
        " load_balance_hosts max_connections current_connections max_client_connections"
        " current_client_connections paused disabled",
    ),
    "dns_hosts": columns("sqs", "hostname ttl addrs"),
    "dns_zones": columns("sqi", "zonename serial count"),
    "lists": columns("si", "list items"),
    "mem": columns("siiiq", "name size used free memtotal"),
    "nl_calibration": columns(
        "sisiiNNiiNNN",
        "function k database points needed promised observed tested possible observed_of_all shown generated",
    ),
    "nl_catalog": columns("sssiis", "database dbname fingerprint tables columns refreshed"),
    "nl_drift": columns("issssssss", "id database what kind old new state breaks found"),
    "nl_feedback": columns("sssissiii", "qid user dbname n kind at examples votes approved"),
    "nl_models": columns("ssss", "role name address state"),
    "nl_questions": columns("sssssisN", "qid user dbname question kind rows asked seconds"),
    "nl_stats": columns("ssN", "name labels value"),
    "peer_pools": columns(
        "iiiii", "peer_id cl_active_cancel_req cl_waiting_cancel_req sv_active_cancel sv_login"
    ),
    "peers": columns("isii", "peer_id host port pool_size"),
    "pools": columns(
        "ssiiiiiiiiiiiiiss",
        "database user cl_active cl_waiting cl_active_cancel_req cl_waiting_cancel_req sv_active sv_active_cancel"
        " sv_being_canceled sv_idle sv_used sv_tested sv_login maxwait maxwait_us pool_mode load_balance_hosts",
    ),
    "servers": columns(_SOCKET_TYPES, _SOCKET),
    "sockets": columns(
        _SOCKET_TYPES + "iiiiiii",
        _SOCKET + " recv_pos pkt_pos pkt_remain send_pos send_remain pkt_avail send_avail",
    ),
    "state": columns("ss", "key value"),
    "stats": columns(
        "s" + "N" * 22,
        " ".join(["database", *(f"total_{name}" for name in _SUMS), *(f"avg_{name}" for name in _AVERAGES)]),
    ),
    "stats_averages": columns(
        "s" + "N" * 11,
        "database server_assignment_count xact_count query_count bytes_received bytes_sent xact_time query_time"
        " wait_time avg_client_parse_count avg_server_parse_count avg_bind_count",
    ),
    "stats_totals": columns(
        "s" + "N" * 11, "database " + _TOTALS.format(received="bytes_received", sent="bytes_sent")
    ),
    "totals": columns("sN", "name value"),
    "users": columns(
        "ssssiiii",
        "name pool_size reserve_pool_size pool_mode max_user_connections current_connections"
        " max_user_client_connections current_client_connections",
    ),
    "version": columns("s", "version"),
}
_SHAPES["active_sockets"] = _SHAPES["sockets"]

NAMES = frozenset({*_SHAPES, "help"})
"""The views of SHOW, besides the settings that drivers read."""

FOR_ADMINS = frozenset({"nl_questions", "nl_feedback"})
"""Views that statisticians may not see: they show users' questions."""

FROM_ENGINE = frozenset(
    {"nl_calibration", "nl_catalog", "nl_drift", "nl_feedback", "nl_models", "nl_questions"}
)
"""Views whose rows come from the engine."""

ENGINE_ADDS = frozenset({"nl_stats"})
"""Views of the workers that the engine has rows for as well; without an engine they are as they are."""

_POOL_MODE = "session"
_OWN_POOL = ("pgparley", "pgparley")


@dataclass(frozen=True, slots=True)
class ConsoleSnapshot:
    """The values that the tables are built from. `config`: key, value, default, changeable."""

    version: str
    upstream_host: str
    upstream_port: int
    max_client_conn: int
    config: tuple[tuple[str, str, str, str], ...]
    reports: tuple[WorkerReport, ...]


def columns_of(view: str) -> TypedColumns | None:
    """The columns of a view; None where it has no rows."""
    if view in SETTINGS_OF_DRIVERS:
        return columns("s", view)
    return _SHAPES.get(view)


def table(view: str, snapshot: ConsoleSnapshot) -> ResultTable:
    """The rows of a view that the workers know."""
    if view in SETTINGS_OF_DRIVERS:
        return ResultTable(columns("s", view), ((SETTINGS_OF_DRIVERS[view],),))
    return ResultTable(_SHAPES[view], tuple(_ROWS[view](snapshot)))


RowIterator = Iterator[tuple[Value, ...]]


def _sessions(snapshot: ConsoleSnapshot) -> Iterator[SessionReport]:
    for report in snapshot.reports:
        yield from report.sessions


def _clients(snapshot: ConsoleSnapshot) -> RowIterator:
    for session in _sessions(snapshot):
        yield _client_row(session, session.state)


def _prewarmed(snapshot: ConsoleSnapshot) -> Iterator[PrewarmedReport]:
    for report in snapshot.reports:
        yield from report.prewarmed


def _servers(snapshot: ConsoleSnapshot) -> RowIterator:
    for session in _sessions(snapshot):
        if session.server is not None:
            yield _server_row(session, "active")
    for prewarmed in _prewarmed(snapshot):
        yield _prewarmed_row(prewarmed, "new")


def _sockets(snapshot: ConsoleSnapshot) -> RowIterator:
    debug = (0,) * 7
    for session in _sessions(snapshot):
        yield _client_row(session, "cl_active" if session.state != "waiting" else "cl_waiting") + debug
        if session.server is not None:
            yield _server_row(session, "sv_active") + debug
    for prewarmed in _prewarmed(snapshot):
        yield _prewarmed_row(prewarmed, "sv_login") + debug


def _active_sockets(snapshot: ConsoleSnapshot) -> RowIterator:
    busy = tuple(
        replace(report, sessions=tuple(s for s in report.sessions if s.state == "active"), prewarmed=())
        for report in snapshot.reports
    )
    return _sockets(replace(snapshot, reports=busy))


def _client_row(session: SessionReport, state: str) -> tuple[Value, ...]:
    client = session.client
    begun = _timestamp(client.connected)
    ptr, link = f"c{client.id}", "" if session.server is None else f"s{client.id}"
    who = ("C", client.user, client.database, client.replication, state, client.address, client.port)
    when = (client.local_address, client.local_port, begun, begun, 0, 0, 0)
    return (*who, *when, ptr, link, client.peer_pid, client.tls, client.application_name, 0, client.id)


def _server_row(session: SessionReport, state: str) -> tuple[Value, ...]:
    client, server = session.client, session.server
    if server is None:
        raise AssertionError("the session has no server")
    begun = _timestamp(client.connected)
    who = ("S", client.user, client.database, client.replication, state, server.address, server.port)
    when = (server.local_address, server.local_port, begun, begun, 0, 0, int(session.close_needed))
    ids = (f"s{client.id}", f"c{client.id}", server.pid)
    return (*who, *when, *ids, server.tls, client.application_name, 0, client.id)


def _prewarmed_row(prewarmed: PrewarmedReport, state: str) -> tuple[Value, ...]:
    """It is of no user and no database yet."""
    server: ServerReport = prewarmed.server
    begun = _timestamp(prewarmed.connected)
    who = ("S", "", "", "none", state, server.address, server.port)
    when = (server.local_address, server.local_port, begun, begun, 0, 0, 0)
    return (*who, *when, "", "", server.pid, server.tls, "", 0, 0)


def _timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _pools(snapshot: ConsoleSnapshot) -> RowIterator:
    pools: dict[tuple[str, str], Counter[str]] = {}
    for session in _sessions(snapshot):
        counts = pools.setdefault((session.client.database, session.client.user), Counter())
        counts["waiting" if session.server is None else "active"] += 1
    for (database, user), counts in sorted(pools.items()):
        active, waiting = counts["active"], counts["waiting"]
        yield (database, user, active, waiting, 0, 0, active, *(0,) * 8, _POOL_MODE, None)
    if ahead := len(list(_prewarmed(snapshot))):
        # Of no database yet, so they stand with the gateway's own.
        yield (*_OWN_POOL, *(0,) * 10, ahead, 0, 0, _POOL_MODE, None)


def _databases(snapshot: ConsoleSnapshot) -> RowIterator:
    counts = Counter(session.client.database for session in _sessions(snapshot))
    paused, disabled = _marked(snapshot)
    everything = any(report.all_paused for report in snapshot.reports)
    for name in sorted({*counts, *paused, *disabled, *(t.database for t in _traffic(snapshot))}):
        place = (
            name,
            snapshot.upstream_host,
            snapshot.upstream_port,
            name,
            None,
            0,
            0,
            0,
            0,
            _POOL_MODE,
            None,
        )
        used = (0, counts[name], snapshot.max_client_conn * len(snapshot.reports), counts[name])
        yield (*place, *used, int(everything or name in paused), int(name in disabled))


def _marked(snapshot: ConsoleSnapshot) -> tuple[set[str], set[str]]:
    paused = {name for report in snapshot.reports for name in report.paused}
    return paused, {name for report in snapshot.reports for name in report.disabled}


def _users(snapshot: ConsoleSnapshot) -> RowIterator:
    counts = Counter(session.client.user for session in _sessions(snapshot))
    for name in sorted(counts):
        yield (name, "", "", None, 0, counts[name], 0, counts[name])


def _lists(snapshot: ConsoleSnapshot) -> RowIterator:
    sessions = list(_sessions(snapshot))
    logins = sum(report.logins for report in snapshot.reports)
    values = {
        "databases": len(list(_databases(snapshot))),
        "users": len({session.client.user for session in sessions}),
        "peers": 0,
        "pools": len(list(_pools(snapshot))),
        "peer_pools": 0,
        "free_clients": 0,
        "used_clients": len(sessions) + logins,
        "login_clients": logins,
        "free_servers": 0,
        "used_servers": sum(session.server is not None for session in sessions),
        **dict.fromkeys(("dns_names", "dns_zones", "dns_queries", "dns_pending"), 0),
        "workers": len(snapshot.reports),
        "spare_servers": len(list(_prewarmed(snapshot))),
        "nl_asking": sum(session.asking for session in sessions),
    }
    yield from values.items()


def _added(parts: Iterator[Traffic]) -> list[Traffic]:
    """One entry a database."""
    found: dict[str, Traffic] = {}
    for part in parts:
        found[part.database] = found.get(part.database, Traffic(part.database)).plus(part)
    return [found[name] for name in sorted(found)]


def _traffic(snapshot: ConsoleSnapshot) -> list[Traffic]:
    return _added(entry for report in snapshot.reports for entry in report.traffic)


def _total_values(traffic: Traffic) -> tuple[Value, ...]:
    """The counts; times and prepared statements are not measured, there are no pools to judge by them."""
    counts = (traffic.sessions, traffic.transactions, traffic.queries, traffic.received, traffic.sent)
    return (*counts, *(0,) * 6)


def _average_values(snapshot: ConsoleSnapshot, database: str | None) -> tuple[Value, ...]:
    """Per second over each worker's last period, added up."""
    sums = [0.0] * 5
    for report in snapshot.reports:
        for entry in report.recent:
            if database in (None, entry.database) and report.period > 0:
                counts = (entry.sessions, entry.transactions, entry.queries, entry.received, entry.sent)
                sums = [total + count / report.period for total, count in zip(sums, counts, strict=True)]
    return (*(int(value) for value in sums), *(0,) * 6)


def _stats(snapshot: ConsoleSnapshot) -> RowIterator:
    for entry in _traffic(snapshot):
        yield (entry.database, *_total_values(entry), *_average_values(snapshot, entry.database))


def _stats_totals(snapshot: ConsoleSnapshot) -> RowIterator:
    for entry in _traffic(snapshot):
        yield (entry.database, *_total_values(entry))


def _stats_averages(snapshot: ConsoleSnapshot) -> RowIterator:
    for entry in _traffic(snapshot):
        yield (entry.database, *_average_values(snapshot, entry.database))


def _totals(snapshot: ConsoleSnapshot) -> RowIterator:
    names = _TOTALS.format(received="client_bytes", sent="server_bytes").split()
    whole = _added(replace(entry, database="") for entry in _traffic(snapshot))
    values = _total_values(whole[0] if whole else Traffic(""))
    yield from zip((f"total_{name}" for name in names), values, strict=True)
    yield from zip((f"avg_{name}" for name in names), _average_values(snapshot, None), strict=True)


def _mem(snapshot: ConsoleSnapshot) -> RowIterator:
    for report in snapshot.reports:
        yield (f"worker_{report.pid}", report.memory, 1, 0, report.memory)


def _state(snapshot: ConsoleSnapshot) -> RowIterator:
    paused = any(report.all_paused for report in snapshot.reports)
    values = {"active": not paused, "paused": paused, "suspended": False}
    yield from ((key, "yes" if value else "no") for key, value in values.items())


def _nl_stats(snapshot: ConsoleSnapshot) -> RowIterator:
    sums: dict[tuple[str, str], float] = {}
    for report in snapshot.reports:
        for sample in report.samples:
            labels = ",".join(f"{name}={value}" for name, value in sample.labels)
            sums[sample.name, labels] = sums.get((sample.name, labels), 0.0) + sample.value
    for (name, labels), value in sorted(sums.items()):
        yield (name, labels, value)


def _nothing(_: ConsoleSnapshot) -> RowIterator:
    yield from ()


_ROWS: dict[str, Callable[[ConsoleSnapshot], RowIterator]] = {
    "active_sockets": _active_sockets,
    "clients": _clients,
    "config": lambda snapshot: iter(snapshot.config),
    "databases": _databases,
    "dns_hosts": _nothing,
    "dns_zones": _nothing,
    "lists": _lists,
    "mem": _mem,
    "nl_stats": _nl_stats,
    "peer_pools": _nothing,
    "peers": _nothing,
    "pools": _pools,
    "servers": _servers,
    "sockets": _sockets,
    "state": _state,
    "stats": _stats,
    "stats_averages": _stats_averages,
    "stats_totals": _stats_totals,
    "totals": _totals,
    "users": _users,
    "version": lambda snapshot: iter([(snapshot.version,)]),
}

HELP = """
\tSHOW HELP|CONFIG|DATABASES|POOLS|CLIENTS|SERVERS|USERS|VERSION
\tSHOW PEERS|PEER_POOLS
\tSHOW SOCKETS|ACTIVE_SOCKETS|LISTS|MEM|STATE
\tSHOW DNS_HOSTS|DNS_ZONES
\tSHOW STATS|STATS_TOTALS|STATS_AVERAGES|TOTALS
\tSHOW NL_CATALOG|NL_QUESTIONS|NL_STATS|NL_MODELS|NL_FEEDBACK|NL_CALIBRATION|NL_DRIFT
\tSET <key> = <value>
\tRELOAD
\tPAUSE [<db>]
\tRESUME [<db>]
\tDISABLE <db>
\tENABLE <db>
\tRECONNECT [<db>]
\tWAIT_CLOSE [<db>]
\tKILL [<db>]
\tKILL_CLIENT <client_id>
\tSHUTDOWN
\tSHUTDOWN WAIT_FOR_SERVERS|WAIT_FOR_CLIENTS"""
"""The text of SHOW HELP."""
