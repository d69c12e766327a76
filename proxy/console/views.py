"""The console's SHOW commands: columns as PgBouncer 1.25 has them, then ours; rows from all workers' reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime

from proxy.console.grammar import SETTINGS_OF_DRIVERS
from proxy.console.reports import (
    ClientReport,
    ServerReport,
    SessionReport,
    Traffic,
    WorkerReport,
)
from proxy.console.tables import ResultTable, TypedColumns, Value, columns
from proxy.metrics import families

_SOCKET = (
    "type user database replication state addr port local_addr local_port connect_time request_time wait wait_us"
    " close_needed ptr link remote_pid tls application_name prepared_statements id"
)
_DEBUG = "recv_pos pkt_pos pkt_remain send_pos send_remain pkt_avail send_avail"
_TOTALS = (
    "server_assignment_count xact_count query_count {received} {sent} xact_time query_time wait_time"
    " client_parse_count server_parse_count bind_count"
)
_SUMS = _TOTALS.format(received="received", sent="sent").split()
_AVERAGES = _TOTALS.format(received="recv", sent="sent").split()
_BOTH = " ".join([*(f"total_{name}" for name in _SUMS), *(f"avg_{name}" for name in _AVERAGES)])

_COLUMNS = f"""
active_sockets ssssssisissiiississiqiiiiiii {_SOCKET} {_DEBUG}
clients ssssssisissiiississiq {_SOCKET}
config ssss key value default changeable
databases ssissiiiissiiiiii name host port database force_user pool_size min_pool_size reserve_pool_size \
    server_lifetime pool_mode load_balance_hosts max_connections current_connections max_client_connections \
    current_client_connections paused disabled
dns_hosts sqs hostname ttl addrs
dns_zones sqi zonename serial count
lists si list items
mem siiiq name size used free memtotal
nl_calibration isiiNNiiNNN k database points needed promised observed tested possible observed_of_all shown \
    generated
nl_catalog sssiis database dbname fingerprint tables columns refreshed
nl_drift issssssss id database what kind old new state breaks found
nl_feedback sssissiii qid user dbname n kind at examples votes approved
nl_models sssss role name address state can
nl_questions sssssisN qid user dbname question kind rows asked seconds
nl_stats ssN name labels value
peer_pools iiiii peer_id cl_active_cancel_req cl_waiting_cancel_req sv_active_cancel sv_login
peers isii peer_id host port pool_size
pools ssiiiiiiiiiiiiiss database user cl_active cl_waiting cl_active_cancel_req cl_waiting_cancel_req \
    sv_active sv_active_cancel sv_being_canceled sv_idle sv_used sv_tested sv_login maxwait maxwait_us pool_mode \
    load_balance_hosts
servers ssssssisissiiississiq {_SOCKET}
sockets ssssssisissiiississiqiiiiiii {_SOCKET} {_DEBUG}
state ss key value
stats s{"N" * 22} database {_BOTH}
stats_averages s{"N" * 11} database server_assignment_count xact_count query_count bytes_received bytes_sent xact_time \
    query_time wait_time avg_client_parse_count avg_server_parse_count avg_bind_count
stats_totals s{"N" * 11} database {_TOTALS.format(received="bytes_received", sent="bytes_sent")}
totals sN name value
users ssssiiii name pool_size reserve_pool_size pool_mode max_user_connections current_connections \
    max_user_client_connections current_client_connections
version s version
"""
"""A view a line: its name, the types of its columns as `columns` takes them, and their names."""

_SHAPES = {
    name: columns(types, names)
    for name, types, names in (line.split(maxsplit=2) for line in _COLUMNS.strip().splitlines())
}

NAMES = frozenset({*_SHAPES, "help"})
"""The views of SHOW, besides the settings that drivers read."""

FOR_ADMINS = frozenset({"nl_questions", "nl_feedback"})
"""Views that statisticians may not see: they show users' questions."""

ENGINE_ADDS = frozenset({"nl_stats"})
"""Views of the workers that the engine has rows for as well; without an engine they are as they are."""

FROM_ENGINE = frozenset(name for name in _SHAPES if name.startswith("nl_")) - ENGINE_ADDS
"""Views whose rows come from the engine."""

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

    @property
    def sessions(self) -> Iterator[SessionReport]:
        """Those of all workers."""
        return (session for report in self.reports for session in report.sessions)

    @property
    def prewarmed(self) -> tuple[ServerReport, ...]:
        """Those of all workers."""
        return tuple(each for report in self.reports for each in report.prewarmed)

    @property
    def traffic(self) -> list[Traffic]:
        """Of all workers, one entry a database."""
        return _added(entry for report in self.reports for entry in report.traffic)


Row = tuple[Value, ...]


def columns_of(view: str) -> TypedColumns | None:
    """The columns of a view; None where it has no rows."""
    if view in SETTINGS_OF_DRIVERS:
        return columns("s", view)
    return _SHAPES.get(view)


def table(view: str, snapshot: ConsoleSnapshot) -> ResultTable:
    """The rows of a view that the workers know."""
    if view in SETTINGS_OF_DRIVERS:
        return ResultTable(columns("s", view), ((SETTINGS_OF_DRIVERS[view],),))
    rows = _ROWS[view](snapshot) if view in _ROWS else ()
    return ResultTable(_SHAPES[view], tuple(rows))


def _servers(snapshot: ConsoleSnapshot) -> Iterator[Row]:
    for session in snapshot.sessions:
        if session.server is not None:
            yield _server_row(session.server, "active", session)
    for prewarmed in snapshot.prewarmed:
        yield _server_row(prewarmed, "new")


def _sockets(snapshot: ConsoleSnapshot) -> Iterator[Row]:
    debug = (0,) * 7
    for session in snapshot.sessions:
        yield _client_row(session, "cl_active" if session.state != "waiting" else "cl_waiting") + debug
        if session.server is not None:
            yield _server_row(session.server, "sv_active", session) + debug
    for prewarmed in snapshot.prewarmed:
        yield _server_row(prewarmed, "sv_login") + debug


def _active_sockets(snapshot: ConsoleSnapshot) -> Iterator[Row]:
    busy = tuple(
        replace(report, sessions=tuple(s for s in report.sessions if s.state == "active"), prewarmed=())
        for report in snapshot.reports
    )
    return _sockets(replace(snapshot, reports=busy))


def _client_row(session: SessionReport, state: str) -> Row:
    client = session.client
    link = "" if session.server is None else f"s{client.id}"
    ids = (f"c{client.id}", link, client.peer_pid)
    return _socket_row("C", client, state, client, ids=ids)


def _server_row(server: ServerReport, state: str, session: SessionReport | None = None) -> Row:
    if session is None:
        return _socket_row("S", None, state, server, ids=("", "", server.pid))
    ids = (f"s{session.client.id}", f"c{session.client.id}", server.pid)
    return _socket_row("S", session.client, state, server, ids=ids, close_needed=session.close_needed)


def _socket_row(
    kind: str,
    client: ClientReport | None,
    state: str,
    end: ClientReport | ServerReport,
    *,
    ids: tuple[str, str, int],
    close_needed: bool = False,
) -> Row:
    """A row of _SOCKET. `client`: None of a socket that is of no user and no database yet."""
    user, database, replication, application, number = (
        ("", "", "none", "", 0)
        if client is None
        else (client.user, client.database, client.replication, client.application_name, client.id)
    )
    begun = datetime.fromtimestamp(end.connected, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    ends = (end.address, end.port, end.local_address, end.local_port)
    times = (begun, begun, 0, 0, int(close_needed))
    return (kind, user, database, replication, state, *ends, *times, *ids, end.tls, application, 0, number)


def _pools(snapshot: ConsoleSnapshot) -> Iterator[Row]:
    pools: dict[tuple[str, str], Counter[str]] = {}
    for session in snapshot.sessions:
        counts = pools.setdefault((session.client.database, session.client.user), Counter())
        counts["waiting" if session.server is None else "active"] += 1
    for (database, user), counts in sorted(pools.items()):
        active, waiting = counts["active"], counts["waiting"]
        yield (database, user, active, waiting, 0, 0, active, *(0,) * 8, _POOL_MODE, None)
    if ahead := len(snapshot.prewarmed):
        # Of no database yet, so they stand with the gateway's own.
        yield (*_OWN_POOL, *(0,) * 10, ahead, 0, 0, _POOL_MODE, None)


def _databases(snapshot: ConsoleSnapshot) -> Iterator[Row]:
    counts = Counter(session.client.database for session in snapshot.sessions)
    paused = {name for report in snapshot.reports for name in report.paused}
    disabled = {name for report in snapshot.reports for name in report.disabled}
    server = (snapshot.upstream_host, snapshot.upstream_port)
    most = snapshot.max_client_conn * len(snapshot.reports)
    for name in sorted({*counts, *paused, *disabled, *(t.database for t in snapshot.traffic)} - {""}):
        place = (name, *server, name, None, 0, 0, 0, 0, _POOL_MODE, None)
        used = (0, counts[name], most, counts[name])
        yield (*place, *used, int(not paused.isdisjoint(("", name))), int(name in disabled))


def _users(snapshot: ConsoleSnapshot) -> Iterator[Row]:
    counts = Counter(session.client.user for session in snapshot.sessions)
    return ((name, "", "", None, 0, counts[name], 0, counts[name]) for name in sorted(counts))


def _lists(snapshot: ConsoleSnapshot) -> Iterable[Row]:
    sessions = list(snapshot.sessions)
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
        "spare_servers": len(snapshot.prewarmed),
        "nl_asking": sum(session.asking for session in sessions),
    }
    return values.items()


def _added(parts: Iterable[Traffic]) -> list[Traffic]:
    found: dict[str, Traffic] = {}
    for part in parts:
        found[part.database] = found.get(part.database, Traffic(part.database)).plus(part)
    return [found[name] for name in sorted(found)]


def _counts(traffic: Traffic) -> tuple[int, ...]:
    return astuple(traffic)[1:]


def _total_values(traffic: Traffic) -> Row:
    """The counts; times and prepared statements are not measured, there are no pools to judge by them."""
    return (*_counts(traffic), *(0,) * 6)


def _average_values(snapshot: ConsoleSnapshot, database: str | None) -> Row:
    """Per second over each worker's last period, added up."""
    sums = [0.0] * 5
    for report in snapshot.reports:
        for entry in report.recent:
            if database in (None, entry.database) and report.period > 0:
                sums = [total + n / report.period for total, n in zip(sums, _counts(entry), strict=True)]
    return (*(int(value) for value in sums), *(0,) * 6)


def _stats(snapshot: ConsoleSnapshot) -> Iterator[Row]:
    for entry in snapshot.traffic:
        yield (entry.database, *_total_values(entry), *_average_values(snapshot, entry.database))


def _totals(snapshot: ConsoleSnapshot) -> Iterator[Row]:
    names = _TOTALS.format(received="client_bytes", sent="server_bytes").split()
    whole = _added(replace(entry, database="") for entry in snapshot.traffic)
    values = _total_values(whole[0] if whole else Traffic(""))
    yield from zip((f"total_{name}" for name in names), values, strict=True)
    yield from zip((f"avg_{name}" for name in names), _average_values(snapshot, None), strict=True)


def _state(snapshot: ConsoleSnapshot) -> Iterator[Row]:
    paused = any("" in report.paused for report in snapshot.reports)
    values = {"active": not paused, "paused": paused, "suspended": False}
    return ((key, "yes" if value else "no") for key, value in values.items())


def _nl_stats(snapshot: ConsoleSnapshot) -> Iterator[Row]:
    sums: Counter[tuple[str, str]] = Counter()
    pages = (families(report.metrics) for report in snapshot.reports)
    for sample in (sample for page in pages for family in page for sample in family.samples):
        labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
        sums[sample.name, labels] += sample.value  # type: ignore[assignment]  # a Counter adds floats as well
    return ((*key, value) for key, value in sorted(sums.items()))


_ROWS: dict[str, Callable[[ConsoleSnapshot], Iterable[Row]]] = {
    "active_sockets": _active_sockets,
    "clients": lambda snapshot: (_client_row(session, session.state) for session in snapshot.sessions),
    "config": lambda snapshot: snapshot.config,
    "databases": _databases,
    "lists": _lists,
    "mem": lambda snapshot: ((f"worker_{r.pid}", r.memory, 1, 0, r.memory) for r in snapshot.reports),
    "nl_stats": _nl_stats,
    "pools": _pools,
    "servers": _servers,
    "sockets": _sockets,
    "state": _state,
    "stats": _stats,
    "stats_averages": lambda snapshot: (
        (traffic.database, *_average_values(snapshot, traffic.database)) for traffic in snapshot.traffic
    ),
    "stats_totals": lambda snapshot: ((each.database, *_total_values(each)) for each in snapshot.traffic),
    "totals": _totals,
    "users": _users,
    "version": lambda snapshot: ((snapshot.version,),),
}
"""Of the views that ever have rows here."""

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
