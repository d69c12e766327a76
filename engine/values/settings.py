"""Settings of the engine: its interface, its store, its limits. Light: a gateway worker reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from engine.values.errors import InvalidSettingError
from engine.values.messages import OnDoubt
from engine.values.model_settings import ModelSettings
from engine.values.role_limits import ChooseCost, ResultCaps


@dataclass(frozen=True, slots=True)
class UpstreamSettings:
    """Limits of what runs for users. Times in seconds. `pool_size`: connections of one login.

    `trusted_owners`: roles besides superusers, the database's owner and the asker of whose tables, types and
    functions something may run with the asker's rights. `caps`: the first that fits counts. `overdue_per_asker`:
    statements that a server has not stopped in time, from which on the asker gets no further one there.
    """

    statement_timeout: float = 30.0
    lock_timeout: float = 2.0
    connect_timeout: float = 5.0
    pool_size: int = 8
    privileges_ttl: float = 60.0
    trusted_owners: tuple[str, ...] = ()
    overdue_per_asker: int = 2
    caps: tuple[ResultCaps, ...] = ()

    def caps_of(self, database: str, role: str) -> ResultCaps:
        """The caps for `role` in `database`, by its registered name."""
        return next((caps for caps in self.caps if caps.fits(database, role)), ResultCaps())


@dataclass(frozen=True, slots=True)
class ListenSettings:
    """Where gateways on other machines ask. `listen`: address:port; empty: nowhere.

    What they have to show: the secret of `secret_file`, a certificate of an authority in `tls_ca_file`, or both. Our
    certificate may be left out on a loopback address alone.
    """

    listen: str = ""
    tls_cert_file: str = ""
    tls_key_file: str = ""
    secret_file: str = ""
    tls_ca_file: str = ""


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """How the encoder runs.

    `model`: a folder that sentence-transformers can load, None for the packaged one. `threads`: of torch, for
    the whole process; one is no slower for a single question than two are beside a busy language model, since
    two wait for each other. `batch`: texts a forward pass. `remembered`: texts whose vectors are kept (1.5 KB
    each).
    """

    model: Path | None = None
    threads: int = 1
    batch: int = 64
    remembered: int = 50_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What one question may cost. Times in seconds.

    `k`: candidates shown where the asker sets none; `k_max`: where they do. `calls`: model calls for one
    question, repairs apart. `row_cap`: rows of a chosen statement that runs on another database than the
    asker's. `reuse`: how long the same question of the same asker gets
    the answer that it had, 0 for never. `warm_databases`: schemas that the model reads when
    the engine starts, so that the first question on them need not wait for that. `concurrent`: questions that are
    answered at once; others wait, the roles in turn.

    `run_candidates`: whether statements run before one is chosen, as the asker and read-only, to merge those that
    say the same in other words. `run_seconds` bounds all of them together, `run_rows` each; one that the planner puts
    above `run_cost`, in its own units, does not run.

    `choose_cost`, `choose_anyway`: `ChooseCost` for whom none of `choose_costs` fits, of which the first counts.
    """

    k: int = 3
    k_max: int = 10
    calls: int = 6
    timeout: float = 120.0
    row_cap: int = 10_000
    reuse: float = 3_600.0
    question_characters: int = 4_000
    concurrent: int = 4
    warm_databases: int = 8
    run_candidates: bool = True
    run_seconds: float = 2.0
    run_rows: int = 2_000
    run_cost: float = 1_000_000.0
    choose_cost: float = 0.0
    choose_anyway: bool = True
    choose_costs: tuple[ChooseCost, ...] = ()

    def choosing(self, database: str, role: str) -> ChooseCost:
        """What counts for `role` in `database`, by its registered name."""
        fits = (each for each in self.choose_costs if each.fits(database, role))
        return next(fits, ChooseCost(cost=self.choose_cost, anyway=self.choose_anyway))

    def width(self, k: int | None) -> int:
        """The number of candidates shown to an asker who wants `k`, None for the default: the one place that bounds it.

        Raises `InvalidSettingError` where `k` is not from 1 to `k_max`.
        """
        if k is not None and not 1 <= k <= self.k_max:
            raise InvalidSettingError.of("k", str(k), f"It is a whole number from 1 to {self.k_max}.")
        return k or self.k


class Strategy(StrEnum):
    """How candidates are found. `AUTO`: by readings, but of the embedded model and small ones by search."""

    AUTO = "auto"
    READINGS = "readings"
    SEARCH = "search"


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """The parts of finding and ordering candidates; each can be switched off, to measure it or because it does harm.

    `strategy`: whether the model is asked for the readings of a question, or statements are searched for.

    `masks`: names that a statement used are forbidden in further ones (Odin §5), of a model that has no forks.
    `conditions`: further statements are asked for by what they are made of, and how hard (MetaSQL §III).
    `second_stage`: a cross-encoder reads question and statement (MetaSQL §III-C), beside how likely the model found it.
    `exchanges`: one name for another, without a model call. `repair`: a second call with the reason where a statement
    was refused or does not say what a DBA's term means. `forks`: the first answer is written again from where the model
    was least certain, with what it nearly wrote there. `links`: names that the schema linker finds most unlikely are
    forbidden. `retell`: where no candidate is clearly ahead the model is asked which question each of them answers.
    `undone`: a model that gives readings is told, where it is asked once more, what none of them does.
    `rules_off`: names of rules of `engine.findings.rules` that do not run. All but the last two are of the search.
    """

    strategy: Strategy = Strategy.AUTO
    masks: bool = False
    conditions: bool = False
    second_stage: bool = False
    exchanges: bool = True
    repair: bool = True
    forks: bool = True
    links: bool = True
    retell: bool = True
    undone: bool = True
    rules_off: tuple[str, ...] = ()


class Ahead(StrEnum):
    """Whether the model is asked about schemas by itself: never, a model of the operator's own alone, or any."""

    OFF = "off"
    OWN = "own"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class CatalogSettings:
    """How the engine keeps the catalog up to date. `watch`: seconds between two looks at a schema; 0 never looks.

    `login`: by which databases of the store's server are read, as a DSN; empty: by the store's. `ask_ahead`: which
    model is asked about new and changed schemas while nobody asks, for as many tokens and seconds a day at most.
    """

    watch: float = 300.0
    login: str = ""
    ask_ahead: Ahead = Ahead.OFF
    ask_ahead_tokens: int = 200_000
    ask_ahead_seconds: float = 1_800.0

    def __post_init__(self) -> None:
        for name in ("watch", "ask_ahead_tokens", "ask_ahead_seconds"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is at least 0, not {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class SelectionSettings:
    """Which candidates are shown.

    `enabled`: whether any is left out. `coverage`: how often a right candidate that was found shall be shown, where the
    asker does not say. `audit`: share of the questions of which everything is shown although a threshold is known: only
    choices from whole answers may calibrate. `base`: whether the calibration that comes with the program counts until
    there are enough points here.
    """

    enabled: bool = True
    coverage: float = 0.95
    audit: float = 0.05
    base: bool = True

    def __post_init__(self) -> None:
        if not 0.0 < self.coverage < 1.0:
            raise ValueError(f"coverage is between 0 and 1, not {self.coverage}")
        if not 0.0 <= self.audit <= 1.0:
            raise ValueError(f"audit is from 0 to 1, not {self.audit}")


@dataclass(frozen=True, slots=True)
class DialogueSettings:
    """When a question is asked back, and when none is answered: by what each costs the asker (docs/surface.md).

    The costs compare with one another. `wrong`: of a wrong answer that is taken for a right one. `question`: of a
    question back. `row`: of one more statement to read and understand. `abstention`: of no answer. `questions`: back
    at most for one question; 0 never asks. `on_doubt`: what becomes of statements that cost more than no answer, where
    the asker does not say.
    """

    wrong: float = 1.0
    question: float = 0.18
    row: float = 0.4
    abstention: float = 0.75
    questions: int = 4
    on_doubt: OnDoubt = OnDoubt.SHOW

    def __post_init__(self) -> None:
        for name in ("wrong", "question", "row", "abstention"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is at least 0, not {getattr(self, name)}")
        if self.questions < 0:
            raise ValueError(f"questions is at least 0, not {self.questions}")


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """What choices, corrections and rejections teach, and for how long.

    `enabled`: whether anything is learned and used. `auto_approve`: what one user shows counts for everybody at once;
    otherwise once a DBA has approved it. `window_days`: what is older does not count; `window_votes`: nor does a vote
    on a pair of alternatives with as many newer ones. `half_life_days`, `half_life_votes`: days, and newer votes on the
    pair, after which a vote counts half. `strong`: the strength from which a preference raises similarities and does
    not only order; one vote gives 0.5, two that agree 0.64, one correction 0.67. `alike`: cosine from which a phrase is
    taken for another. `hints`, `examples`: preferences and verified examples that a prompt shows at most;
    `example_similarity`: cosine of two questions from which one is an example for the other. `adapter_votes`: votes
    after which an adapter of the encoder is trained anew, 0: never.
    """

    enabled: bool = True
    auto_approve: bool = False
    window_days: float = 180.0
    window_votes: int = 20
    half_life_days: float = 30.0
    half_life_votes: float = 3.0
    strong: float = 0.6
    alike: float = 0.65
    hints: int = 5
    examples: int = 3
    example_similarity: float = 0.45
    adapter_votes: int = 20

    def __post_init__(self) -> None:
        for name in ("window_days", "half_life_days", "half_life_votes"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is above 0, not {getattr(self, name)}")
        for name in ("strong", "alike", "example_similarity"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} is from 0 to 1, not {getattr(self, name)}")


EXTENSIONS = frozenset(
    {
        "citext",
        "fuzzystrmatch",
        "hll",
        "hstore",
        "ltree",
        "pg_trgm",
        "postgis",
        "timescaledb",
        "unaccent",
        "vector",
    }
)
"""Those that can be allowed as a whole; of any other the functions by name."""


@dataclass(frozen=True, slots=True)
class Allowances:
    """What the guard lets generated SQL use beside PostgreSQL's own, where the server confirms that it is safe.

    `functions`, `operators`, `types`: each with its schema, as in "public.similarity" or "public.<->". `extensions`:
    whole ones, of `EXTENSIONS`.
    """

    functions: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in (*self.functions, *self.operators, *self.types):
            schema, dot, rest = name.partition(".")
            if not (schema and dot and rest):
                raise ValueError(f'"{name}" has no schema: write it as "public.{name}"')
        for extension in self.extensions:
            if extension not in EXTENSIONS:
                known = ", ".join(sorted(EXTENSIONS))
                raise ValueError(
                    f'extension "{extension}" cannot be allowed as a whole, only {known}: name its functions'
                )


@dataclass(frozen=True, slots=True)
class GuardSettings(Allowances):
    """What the guard allows on all databases, and in `databases` on single ones, by their names in the catalog."""

    extensions: tuple[str, ...] = tuple(sorted(EXTENSIONS))
    databases: dict[str, Allowances] = field(default_factory=dict)

    def of(self, database: str) -> Allowances:
        """All that is allowed on one database."""
        own = self.databases.get(database, Allowances())
        return Allowances(
            functions=(*self.functions, *own.functions),
            operators=(*self.operators, *own.operators),
            types=(*self.types, *own.types),
            extensions=(*self.extensions, *own.extensions),
        )


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How many days what people say is kept; 0: `prompts` as long as their questions, `learned` and `audit` for ever.

    `questions`: with their answers, statements and first rows; so long an answer can be chosen from. `prompts`: what
    the model was sent for them. `learned`: examples that nobody approved. `audit`: rotated files of the audit log.
    """

    questions: float = 1.0
    prompts: float = 0.0
    learned: float = 0.0
    audit: float = 90.0

    def __post_init__(self) -> None:
        if self.questions <= 0:
            raise ValueError(f"questions is above 0, not {self.questions}")
        for name in ("prompts", "learned", "audit"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is at least 0, not {getattr(self, name)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSections:
    """The sections of the configuration that the engine takes as they are."""

    limits: Limits = field(default_factory=Limits)
    generation: GenerationSettings = field(default_factory=GenerationSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    upstream: UpstreamSettings = field(default_factory=UpstreamSettings)
    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    selection: SelectionSettings = field(default_factory=SelectionSettings)
    dialogue: DialogueSettings = field(default_factory=DialogueSettings)
    learning: LearningSettings = field(default_factory=LearningSettings)
    guard: GuardSettings = field(default_factory=GuardSettings)
    catalog: CatalogSettings = field(default_factory=CatalogSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)


@dataclass(frozen=True, slots=True)
class EngineSettings(EngineSections):
    """Everything the engine process needs.

    `socket`: the Unix socket of its interface. `vectors`: a file that keeps the vectors of schema texts; None keeps
    none, and every start encodes them anew. `learned_router`: False routes by retrieval alone.
    `listening`: where it is asked beside its socket.
    """

    socket: Path
    store_dsn: str
    vectors: Path | None = None
    learned_router: bool = True
    listening: ListenSettings = field(default_factory=ListenSettings)
