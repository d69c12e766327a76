"""Configuration: one TOML file, overridden by the environment. The only reader of either.

Every key is a field of a settings dataclass; one that does not exist is an error with the nearest that does.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import os
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec

from engine.values.model_settings import EmbeddedModelSettings, ModelSettings, ServiceSettings
from engine.values.settings import EngineSections, EngineSettings, ListenSettings
from page.settings import PageSettings
from proxy.settings import AuditSettings, GatewaySettings
from schema_catalog.dsn import STORE_DATABASE, DSNError, as_uri

PREFIX = "PGPARLEY_"
FILE = "pgparley.toml"

ServiceT = TypeVar("ServiceT", bound=ServiceSettings)


class ConfigError(Exception):
    """The configuration cannot be used; the message says what to change."""


@dataclass(frozen=True, slots=True)
class EngineSection:
    """`[engine]`. `socket`: of its interface. `store`: DSN of the database that holds catalog and questions.

    `vectors`: a file that keeps the vectors of schema texts between starts. `learned_router`: False routes
    by retrieval alone. `listen` and what follows: see `ListenSettings`.
    """

    socket: Path
    store: str = f"postgresql:///{STORE_DATABASE}"
    vectors: Path | None = None
    learned_router: bool = True
    listen: str = ""
    tls_cert_file: str = ""
    tls_key_file: str = ""
    secret_file: str = ""
    tls_ca_file: str = ""


@dataclass(frozen=True, slots=True)
class Config(EngineSections):
    """The whole file, a field a section."""

    gateway: GatewaySettings
    engine: EngineSection
    embedded_model: EmbeddedModelSettings
    page: PageSettings = field(default_factory=PageSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    workers: int = 1

    def engine_settings(self) -> EngineSettings:
        """The settings of the engine process; raises as `model_with_keys`, and where the store's DSN is none."""
        sections = {
            section.name: getattr(self, section.name) for section in dataclasses.fields(EngineSections)
        } | {"model": self.model_with_keys()}
        own = self.engine
        try:
            store = as_uri(own.store)
        except DSNError as problem:
            raise ConfigError(f"store in [engine]: {problem}") from problem
        listening = ListenSettings(
            **{each.name: getattr(own, each.name) for each in dataclasses.fields(ListenSettings)}
        )
        return EngineSettings(
            own.socket, store, own.vectors, own.learned_router, **sections, listening=listening
        )

    def model_with_keys(self, environment: Mapping[str, str] = os.environ) -> ModelSettings:
        """`[model]` with the keys of files and variables, for those who ask the model. Raises `ConfigError`."""
        others = tuple(_with_key(each, environment) for each in self.model.fallback)
        return dataclasses.replace(_with_key(self.model, environment), fallback=others)


def cache_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """Where models are kept: `$XDG_CACHE_HOME/pgparley`."""
    return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pgparley"


def load(file: Path | None, environment: Mapping[str, str] = os.environ) -> Config:
    """The configuration of `file`, else of `$PGPARLEY_CONFIG` or `./pgparley.toml`. Raises `ConfigError`."""
    tree = _read(chosen(file, environment))
    for (section, key), text in _overrides(environment).items():
        target = tree if not section else tree.setdefault(section, {})
        target[key] = _value(text)
    _check_keys(tree, Config, "")
    whole = _defaults(environment, tree)
    try:
        return msgspec.convert(whole, Config, dec_hook=_path)
    except msgspec.ValidationError as problem:
        raise ConfigError(f"configuration: {problem}") from problem


def chosen(file: Path | None, environment: Mapping[str, str] = os.environ) -> Path | None:
    """The file that `load` reads; None where there is none."""
    if file is not None:
        return file
    if named := environment.get(f"{PREFIX}CONFIG"):
        return Path(named)
    return Path(FILE) if Path(FILE).is_file() else None


def _with_key(service: ServiceT, environment: Mapping[str, str]) -> ServiceT:
    if service.api_key_file:
        try:
            key = Path(service.api_key_file).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as problem:
            raise ConfigError(f"configuration: model.api_key_file cannot be read: {problem}") from problem
    elif service.api_key_env:
        key = environment.get(service.api_key_env, "").strip()
    else:
        return service
    if not key:
        raise ConfigError(f"configuration: there is no key {service.key_place}")
    return dataclasses.replace(service, api_key=key)


def _read(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ConfigError(f"cannot read the configuration: {problem}") from problem
    except ValueError as problem:
        # A number of 4,301 digits is one that is no TOMLDecodeError, which is one as well.
        raise ConfigError(f"{file} is not TOML: {problem}") from problem


def _overrides(environment: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """`PGPARLEY_MODEL_BASE_URL` → ("model", "base_url"): the longest section whose name fits."""
    sections = sorted(
        (f.name for f in dataclasses.fields(Config) if f.name != "workers"), key=len, reverse=True
    )
    found = {}
    for name, value in environment.items():
        rest = name.removeprefix(PREFIX).lower()
        if not name.startswith(PREFIX) or rest == "config":
            continue
        section = next((s for s in sections if rest.startswith(f"{s}_")), "")
        found[section, rest[len(section) + 1 :] if section else rest] = value
    return found


def _value(text: str) -> Any:
    """A number or a boolean where the text is one in TOML, else the text itself."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        return text
    return value if isinstance(value, (bool, int, float)) else text


def _check_keys(tree: Mapping[str, Any], kind: type, where: str) -> None:
    known = get_type_hints(kind)
    for key, value in tree.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            guess = f'; did you mean "{near[0]}"?' if near else ""
            raise ConfigError(f'configuration: unknown key "{where}{key}"{guess}')
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"configuration: {where}{key} is no finite number")
        for inner, its_kind, place in _tables_below(value, known[key], f"{where}{key}."):
            if isinstance(inner, Mapping):
                _check_keys(inner, its_kind, place)


def _tables_below(value: Any, kind: Any, where: str) -> Iterator[tuple[Any, type, str]]:
    """What may be tables in `value`, each with what it is read as and its place."""
    if isinstance(value, Mapping) and dataclasses.is_dataclass(kind):
        yield value, cast("type", kind), where
    elif isinstance(value, Mapping) and get_origin(kind) is dict:
        # Tables of tables: the names between are the users'.
        yield from ((inner, get_args(kind)[1], f"{where}{name}.") for name, inner in value.items())
    elif isinstance(value, list) and get_origin(kind) is tuple:
        yield from ((entry, get_args(kind)[0], where) for entry in value)


def _defaults(environment: Mapping[str, str], tree: Mapping[str, Any]) -> dict[str, Any]:
    """`tree` with the defaults that depend on the machine."""
    runtime = (
        Path(environment.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"pgparley-{os.getuid()}.sock"
    )
    engine = {
        "socket": str(runtime),
        "vectors": str(cache_dir(environment) / "vectors.sqlite"),
        **tree.get("engine", {}),
    }
    cache = cache_dir(environment)
    model = {
        "path": str(cache / "models" / f"{ModelSettings().model}.gguf"),
        "prefixes": str(cache / "prefixes"),
    }
    embedded = {**model, **tree.get("embedded_model", {})}
    named = tree.get("model", {})
    if "base_url" not in named:
        # The embedded model is called as its file is: its name says how large it is.
        named = {"model": Path(str(embedded["path"])).stem, **named}
    socket = Path(str(engine["socket"]))
    port = tree.get("gateway", {}).get("listen_port", 6432)
    gateway = {
        "upstream_host": "127.0.0.1",
        "engine": engine["socket"],
        # Gateways with different ports or engines do not take each other for siblings.
        "runtime_dir": str(socket.with_name(f"{socket.stem}-{port}.workers")),
        **tree.get("gateway", {}),
    }
    return {
        **tree,
        "engine": engine,
        "embedded_model": embedded,
        "model": named,
        "gateway": gateway,
    }


def _path(kind: type, value: Any) -> Any:
    if kind is Path and isinstance(value, str):
        return Path(value).expanduser()
    raise TypeError(f"{kind} cannot be read from {value!r}")
