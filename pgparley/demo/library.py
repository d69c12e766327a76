"""A generated public library that shares names with the other samples: a word alone does not find the database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import accumulate, product
from random import Random
from typing import NamedTuple

from pgparley.demo.loading import Copy, generated
from pgparley.demo.words import CITIES, day, money, person, popularity, words

_SEED = 20260102
_FIRST_DAY, _LAST_DAY = date(2023, 1, 1), date(2025, 12, 31)
_AUTHORS, _BOOKS, _MEMBERS, _LOANS, _EMPLOYEES, _ORDERS = 300, 1_800, 1_200, 16_000, 45, 700
_LOAN_DAYS = 28
_FINE_A_DAY, _HIGHEST_FINE = 25, 2_000
"""Cents."""

_DEPARTMENTS = ("Lending", "Reference", "Children", "Acquisitions")
_BRANCHES = ("Central", "Harbour", "Park Street", "University", "Westside")
_GENRES = ("Novel", "Crime", "Science Fiction", "History", "Travel", "Poetry", "Science", "Biography")
_ADJECTIVES = words(
    "Silent Distant Golden Broken Hidden Northern Last Red Forgotten Quiet Second Bright Lost"
)
_NOUNS = words(
    """
    River Garden Winter Mirror House Journey Island Letter Bridge Harbour Mountain Clock Orchard Station Map
    Forest Window Sea Road Lantern Song Tower Summer Stranger Valley
    """
)
_ENDINGS = ("", " of Stone", " at Night", " in the Rain", " Revisited", " without End")
_SUPPLIERS = ("Paper & Ink", "City Books", "Northern Wholesale", "Folio Trade")
_COUNTRIES = ("United States", "United Kingdom", *words("Canada Germany France Japan India Nigeria Brazil"))

Row = tuple[object, ...]


class _Loan(NamedTuple):
    loan: int
    book: int
    member: int
    branch: int
    lent: date
    due: date
    returned: date | None


@dataclass(slots=True)
class _Lending:
    loans: list[_Loan] = field(default_factory=list)
    fines: list[Row] = field(default_factory=list)
    owed: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """Member → unpaid fines in cents."""


def copies() -> Iterator[Copy]:
    """The whole database, generated anew from its seed."""
    random = Random(_SEED)  # noqa: S311 - reproducible, not secret
    employees = _employees(random)
    books = _books(random)
    members = _members(random)
    lending = _lend(random)
    held = _copies_held(lending.loans)
    tables: dict[str, list[Row]] = {
        "branches": [(n, name, CITIES["Midwest"][-1]) for n, name in enumerate(_BRANCHES, start=1)],
        "departments": [(n, name) for n, name in enumerate(_DEPARTMENTS, start=1)],
        "employees": employees,
        "authors": _authors(random),
        "books": [(*row, held.get(number, 1)) for number, row in enumerate(books, start=1)],
        "members": [(*row, money(lending.owed[number])) for number, row in enumerate(members, start=1)],
        "loans": [tuple(loan) for loan in lending.loans],
        "fines": lending.fines,
        "orders": _orders(random),
    }
    return generated(tables)


def _employees(random: Random) -> list[Row]:
    rows: list[Row] = []
    for number in range(1, _EMPLOYEES + 1):
        who = person(random)
        places = (random.randint(1, len(_DEPARTMENTS)), random.randint(1, len(_BRANCHES)))
        hired = day(random, date(2005, 1, 1), date(2022, 12, 31))
        rows.append((number, who.first_name, who.last_name, *places, hired, random.randint(31, 68) * 1_000))
    return rows


def _authors(random: Random) -> list[Row]:
    rows: list[Row] = []
    for number in range(1, _AUTHORS + 1):
        who = person(random)
        name = f"{who.first_name} {who.last_name}"
        rows.append((number, name, random.randint(1890, 1990), random.choice(_COUNTRIES)))
    return rows


def _books(random: Random) -> list[Row]:
    """All columns but the last, the copies held: as many as were out at once."""
    titles = [f"The {a} {n}{end}" for a, n, end in product(_ADJECTIVES, _NOUNS, _ENDINGS)]
    rows: list[Row] = []
    for number, title in enumerate(random.sample(titles, _BOOKS), start=1):
        author, genre = random.randint(1, _AUTHORS), random.choice(_GENRES)
        rows.append((number, title, author, genre, random.randint(1950, 2022), random.randint(90, 780)))
    return rows


def _members(random: Random) -> list[Row]:
    """All columns but the last, the fines owed: those are known when everything is lent."""
    rows: list[Row] = []
    for number in range(1, _MEMBERS + 1):
        who = person(random)
        email = who.email(number, "example.org")
        kind = random.choices(("adult", "student", "child", "senior"), (5, 2, 2, 1))[0]
        joined = day(random, date(2015, 1, 1), _FIRST_DAY)
        branch = random.randint(1, len(_BRANCHES))
        rows.append((number, who.first_name, who.last_name, email, kind, joined, branch))
    return rows


def _lend(random: Random) -> _Lending:
    lending = _Lending()
    readers, demand = popularity(random, _MEMBERS), popularity(random, _BOOKS)
    days = sorted(day(random, _FIRST_DAY, _LAST_DAY) for _ in range(_LOANS))
    for number, lent in enumerate(days, start=1):
        book = random.choices(range(1, _BOOKS + 1), cum_weights=demand)[0]
        member = random.choices(range(1, _MEMBERS + 1), cum_weights=readers)[0]
        due = lent + timedelta(days=_LOAN_DAYS)
        back = lent + timedelta(days=min(int(random.expovariate(1 / 15)) + 1, 120))
        returned = back if back <= _LAST_DAY else None
        lending.loans.append(
            _Loan(number, book, member, random.randint(1, len(_BRANCHES)), lent, due, returned)
        )
        if returned and returned > due:
            _fine(random, lending, loan=number, member=member, days=(returned - due).days)
    return lending


def _copies_held(loans: list[_Loan]) -> dict[int, int]:
    """Book → the most of its copies that were out at once; at least one."""
    changes: dict[int, list[tuple[date, int]]] = defaultdict(list)
    for loan in loans:
        changes[loan.book] += [(loan.lent, 1), (loan.returned or date.max, -1)]
    return {book: max(accumulate(step for _, step in sorted(steps))) for book, steps in changes.items()}


def _fine(random: Random, lending: _Lending, *, loan: int, member: int, days: int) -> None:
    cents = min(days * _FINE_A_DAY, _HIGHEST_FINE)
    paid = random.random() < 0.8  # noqa: PLR2004 - most people pay
    if not paid:
        lending.owed[member] += cents
    lending.fines.append((len(lending.fines) + 1, loan, money(cents), paid))


def _orders(random: Random) -> list[Row]:
    rows: list[Row] = []
    for number, ordered in enumerate(sorted(day(random, _FIRST_DAY, _LAST_DAY) for _ in range(_ORDERS)), 1):
        quantity, price = random.randint(1, 5), random.randint(899, 4_999)
        supplier, book = random.choice(_SUPPLIERS), random.randint(1, _BOOKS)
        rows.append((number, supplier, book, quantity, money(price), money(quantity * price), ordered))
    return rows
