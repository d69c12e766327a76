"""A made-up catalog of any size, up to 10,000 databases, 100,000 tables and 1,000,000 columns, and questions on it.

    python -m benchmarks.quality.routing.catalog [--tables N] [--seed N]

Owns names that read like those of real schemas (no two databases, and no two tables of a database, share one) and
the vectors of so many texts. A text's vector is **composed** there: the normalised sum of its words' vectors, each
encoded once by the real encoder, with a little noise of its own. That gives the shape and the cost of a large
catalog without an hour of encoding; it says nothing of how well routing finds things, and no recall is reported on it.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.text.tokens import identifier_words
from schema_catalog.types import Column, ForeignKey, Snapshot, Table, TableKind

Vectors = NDArray[np.float32]

TABLES_EACH, COLUMNS_EACH = 10, 10
"""Tables of a database and columns of a table, on average; both spread from a third to twice that."""

NOISE = 0.35
"""Length of a text's own noise beside the unit vector of its words."""

_PLACES = """
aachen austin basel bergen bilbao bogota boston brno cairo calgary cardiff cebu cologne cordoba cork dakar delhi
denver dover dublin durban essen galway geneva ghent graz hanoi helsinki izmir jaipur kobe krakow kyoto lagos leeds
leipzig lima lisbon lyon madrid malaga malmo manila metz milan munich nagoya nairobi naples odense osaka oslo ottawa
oulu perth porto prague quito recife riga rome rouen salem seoul seville sofia tampere tartu tokyo toledo toronto
trieste tunis turin utrecht verona vienna vilnius warsaw york zagreb zurich
""".split()  # noqa: SIM905  a list of quoted words is no easier to read
_FIELDS = """
accounting airline archive auction banking brewery broadcasting bus cinema clinic college concert construction
customs dairy dental election energy factory farm ferry festival film fishery fleet forestry fundraising gallery
genealogy grocery gym harbour hiring hospital hotel housing insurance journal laboratory legal library lottery
manufacturing market mining museum observatory opera orchard parking parliament payroll pharmacy police postal
prison publishing railway recycling research restaurant retail sailing school shipping social soccer software
stadium storage streaming survey taxation telecom tennis theatre ticketing tourism traffic transit university
vehicle veterinary volunteering voting warehouse water weather wedding wildlife winery zoo
""".split()  # noqa: SIM905  as above
_THINGS = """
account address agent album animal appointment article asset author award batch bill booking branch building
campaign category channel city claim client comment company contract country course coupon customer delivery
department device discount document donation driver employee engine event exam expense facility feature flight game
genre goal guest holiday incident ingredient inspection instrument invoice item job journey lease lesson licence
loan location machine manager map measurement meeting member menu message meter model movie note nurse offer office
order organ owner package painting parcel part partner passenger patient payment performance permit person phone
photo pilot plan plant player policy position prescription price product project property purchase question rating
receipt recipe region rental repair report request reservation review reward role room route salary sample schedule
season seat sensor service session shelf shift ship shop signal singer skill song species sponsor staff station
statement stock store street student supplier task tax teacher team ticket tool tour train transaction trip truck
vehicle vendor venue visit visitor vote voucher wage ward warehouse warranty winner worker
""".split()  # noqa: SIM905  as above
_ASPECTS = """
amount area balance birthday capacity code colour comment cost count currency date depth description distance
duration email end fee gender grade height identifier kind language latitude length level limit longitude mark model
name number opening paid percentage phone points population price priority quality quantity rank rate reason
reference score size speed start state status summary temperature text time title total type unit value version
volume weight width year
""".split()  # noqa: SIM905  as above
_PREFIXES = """
active annual archived average base billing cancelled current daily default double early estimated expected external
final first foreign gross home hourly initial internal last late local main maximum minimum monthly net new next
nominal old open original overall past pending planned previous primary private public quarterly real recent regular
second shared special temporary third upper weekly yearly
""".split()  # noqa: SIM905  as above


def vocabulary() -> list[str]:
    """Every word that a name is made of."""
    return sorted({*_PLACES, *_FIELDS, *_THINGS, *_ASPECTS, *_PREFIXES})


def catalog(tables: int, *, seed: int = 0) -> Iterator[Snapshot]:
    """Databases with `tables` tables altogether; the same numbers give the same catalog, a larger one begins so."""
    names = [f"{field}_{place}_{suffix}" for suffix, field, place in product("ab", _FIELDS, _PLACES)]
    random.Random(seed).shuffle(names)  # noqa: S311  names, no secrets
    number = 0
    while tables > 0:
        if number >= len(names):
            raise ValueError("there are no names for so many databases")
        # A generator of its own, so that a database does not depend on those before it.
        dice = random.Random(f"{seed} {number}")  # noqa: S311  as above
        size = min(tables, dice.randint(TABLES_EACH // 3, 2 * TABLES_EACH - TABLES_EACH // 3))
        yield _database(names[number], size, dice)
        tables -= size
        number += 1


def _database(name: str, size: int, dice: random.Random) -> Snapshot:
    pairs = dice.sample(range(len(_THINGS) * len(_PREFIXES)), size)
    named = []
    for number in pairs:
        thing, prefix = _THINGS[number % len(_THINGS)], _PREFIXES[number // len(_THINGS)]
        named.append(thing if dice.random() < 0.5 else f"{prefix}_{thing}")  # noqa: PLR2004  half of them
    names = sorted(set(named)) + [f"{prefix}_log" for prefix in _PREFIXES[: size - len(set(named))]]
    tables = tuple(_table(table, names, dice) for table in sorted(names))
    return Snapshot(name, ("public",), tables)


def _table(name: str, names: Sequence[str], dice: random.Random) -> Table:
    size = dice.randint(COLUMNS_EACH // 3, 2 * COLUMNS_EACH - COLUMNS_EACH // 3)
    chosen = dice.sample(range(len(_ASPECTS) * len(_PREFIXES)), size)
    own = {_ASPECTS[n % len(_ASPECTS)] if n % 3 else _named(n): None for n in chosen}
    keys = [
        f"{other}_id"
        for other in dice.sample(list(names), min(len(names), dice.randint(0, 2)))
        if other != name
    ]
    columns = [Column("id", "integer", nullable=False), *(Column(key, "integer") for key in keys)]
    columns += [Column(column, dice.choice(("text", "integer", "numeric", "date"))) for column in own]
    links = tuple(ForeignKey((key,), "public", key.removesuffix("_id"), ("id",)) for key in keys)
    return Table("public", name, TableKind.TABLE, tuple(columns[: max(2, size)]), ("id",), foreign_keys=links)


def _named(number: int) -> str:
    return f"{_PREFIXES[number // len(_ASPECTS)]}_{_ASPECTS[number % len(_ASPECTS)]}"


def questions(count: int, *, seed: int = 0) -> list[str]:
    """Questions in the vocabulary of the catalog, of the length that people's have."""
    dice = random.Random(f"questions {seed}")  # noqa: S311  as above
    forms = (
        "What is the {prefix} {aspect} of each {thing} in {place}?",
        "How many {thing} records does the {field} have for every {other}, by {aspect}?",
        "List the {aspect} and the {second} of all {thing} entries whose {third} is above the average.",
        "Which {other} had the highest {aspect} last year, and for which {thing} was that?",
    )
    lists = {
        "prefix": _PREFIXES, "aspect": _ASPECTS, "second": _ASPECTS, "third": _ASPECTS, "thing": _THINGS,
        "other": _THINGS, "place": _PLACES, "field": _FIELDS,
    }  # fmt: skip
    return [
        dice.choice(forms).format(**{key: dice.choice(words) for key, words in lists.items()})
        for _ in range(count)
    ]


class TextEncoder(Protocol):
    """The real encoder."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), d)."""


class ComposingEncoder:
    """Vectors of the catalog's texts, composed of their words'. Other words count for nothing."""

    def __init__(self, encoder: TextEncoder) -> None:
        words = vocabulary()
        self._rows = {identifier_words(word)[0]: row for row, word in enumerate(words)}
        self._vectors = encoder.encode(words)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), d)."""
        dimensions = self._vectors.shape[1]
        found = np.empty((len(texts), dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            held = [self._rows[word] for word in identifier_words(text) if word in self._rows]
            total = self._vectors[held].sum(axis=0) if held else np.zeros(dimensions, dtype=np.float32)
            found[row] = total / max(float(np.linalg.norm(total)), 1e-6)
        found += NOISE / np.sqrt(dimensions) * self._noise(texts, dimensions)
        unit: Vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
        return unit

    @staticmethod
    def _noise(texts: Sequence[str], dimensions: int) -> Vectors:
        digest = hashlib.sha256("\0".join(texts).encode()).digest()
        dice = np.random.default_rng(int.from_bytes(digest[:8]))
        return dice.standard_normal((len(texts), dimensions), dtype=np.float32)


def main() -> int:
    """Says how large the catalog is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    sizes = [
        (len(one.tables), sum(len(table.columns) for table in one.tables))
        for one in catalog(args.tables, seed=args.seed)
    ]
    print(f"{len(sizes)} databases, {sum(t for t, _ in sizes)} tables, {sum(c for _, c in sizes)} columns")
    return 0


if __name__ == "__main__":
    sys.exit(main())
