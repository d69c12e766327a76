"""A generated wholesale business whose schema is ambiguous where real ones are: several right answers to a question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random

from pgparley.demo.loading import Copy, generated
from pgparley.demo.words import CITIES, day, money, person, popularity

_SEED = 20260101
_FIRST_DAY, _LAST_DAY = date(2023, 1, 1), date(2025, 12, 31)
_CUSTOMERS, _EMPLOYEES, _ORDERS = 1_500, 240, 11_000

_DEPARTMENTS = (
    *("Sales", "Marketing", "Logistics", "Finance"),
    *("Human Resources", "IT", "Procurement", "Support"),
)
_DEPARTMENTS_2022 = ("Sales", "Mail Order", "Advertising", "Warehouse", "Finance", "Personnel", "IT")
_TITLES = ("Assistant", "Specialist", "Senior Specialist", "Manager")
_CATALOG = {
    "Furniture": (9_000, ("Desk", "Office Chair", "Bookcase", "Filing Cabinet", "Conference Table", "Stool")),
    "Electronics": (12_000, ("Monitor", "Keyboard", "Docking Station", "Headset", "Projector", "Webcam")),
    "Stationery": (600, ("Notebook", "Pen Set", "Binder", "Envelope Box", "Stapler", "Marker Set")),
    "Kitchen": (3_500, ("Coffee Maker", "Kettle", "Mug Set", "Toaster", "Water Filter", "Lunch Box")),
    "Lighting": (4_500, ("Desk Lamp", "Floor Lamp", "Ceiling Light", "Light Strip", "Spotlight", "Lantern")),
}
_LINES = ("Basic", "Classic", "Pro", "Eco")
_COMPANY_KINDS = ("Trading", "Stores", "Supplies", "Partners", "Works", "Group", "Market")
_SEGMENTS = ("Retail", "Corporate", "Public Sector")
_DISCOUNTS = (0, 0, 0, 0, 5, 5, 10, 15)
_REASONS = ("damaged", "wrong item", "no longer needed", "late delivery")
_RETURN_RATE = 0.08

Row = tuple[object, ...]


@dataclass(slots=True)
class _Selling:
    orders: list[Row] = field(default_factory=list)
    items: list[Row] = field(default_factory=list)
    returns: list[Row] = field(default_factory=list)
    revenue: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """Customer → net sales in cents."""


@dataclass(frozen=True, slots=True)
class _Line:
    product: int
    quantity: int
    cents: int
    """Unit price."""


def copies() -> Iterator[Copy]:
    """The whole database, generated anew from its seed."""
    random = Random(_SEED)  # noqa: S311 - reproducible, not secret
    prices, products = _products(random)
    departments, archived = _departments(random)
    employees, sellers = _employees(random)
    customers = _customers(random)
    selling = _sell(random, prices, customers, sellers)
    tables: dict[str, list[Row]] = {
        "regions": [(region, f"{region} region", cities[0]) for region, cities in CITIES.items()],
        "departments": departments,
        "departments_2022": archived,
        "employees": employees,
        "products": products,
        "customers": [
            (*row, money(selling.revenue[number])) for number, row in enumerate(customers, start=1)
        ],
        "orders": selling.orders,
        "order_items": selling.items,
        "returns": selling.returns,
        "sales_targets": _targets(random),
    }
    return generated(tables)


def _products(random: Random) -> tuple[list[int], list[Row]]:
    """(unit price in cents by product, rows): product n is element n - 1."""
    prices: list[int] = []
    rows: list[Row] = []
    for category, (typical, names) in _CATALOG.items():
        for name in names:
            for grade, line in enumerate(_LINES):
                price = round(typical * random.uniform(0.6, 1.4) * (1 + 0.35 * grade), -1) - 1
                prices.append(int(price))
                cost = int(price * random.uniform(0.45, 0.7))
                launched = day(random, date(2019, 1, 1), _FIRST_DAY)
                row = (len(prices), f"{line} {name}", category, money(int(price)), money(cost), launched)
                rows.append(row)
    return prices, rows


def _departments(random: Random) -> tuple[list[Row], list[Row]]:
    """Today's and those of 2022: other names, other budgets, the same kind of columns."""
    current: list[Row] = [
        (number, name, f"{random.randint(20, 160) * 10_000}.00", random.choice(CITIES["East"]))
        for number, name in enumerate(_DEPARTMENTS, start=1)
    ]
    archived: list[Row] = [
        (number, name, f"{random.randint(15, 120) * 10_000}.00", random.randint(8, 60))
        for number, name in enumerate(_DEPARTMENTS_2022, start=1)
    ]
    return current, archived


def _employees(random: Random) -> tuple[list[Row], list[int]]:
    """(rows, numbers of those in Sales). The first of each department is its manager and has no other."""
    rows: list[Row] = []
    sellers: list[int] = []
    for number in range(1, _EMPLOYEES + 1):
        department = (number - 1) % len(_DEPARTMENTS) + 1
        head = number <= len(_DEPARTMENTS)
        rank = 3 if head else random.choices((0, 1, 2), weights=(3, 5, 2))[0]
        who = person(random)
        base = random.randint(30 + 14 * rank, 46 + 18 * rank) * 100_000
        allowance = base * random.randint(0, 12) // 100
        if department == 1:
            sellers.append(number)
        hired = day(random, date(2012, 1, 1), date(2022, 12, 31))
        pay = (money(base), money(allowance), money(base + allowance))
        name = (who.first_name, who.last_name, who.email(number, "example.com"))
        rows.append((number, *name, department, None if head else department, _TITLES[rank], hired, *pay))
    return rows, sellers


_REGION = 4
"""Where a customer's row has the region."""


def _customers(random: Random) -> list[Row]:
    """All columns but the last, the revenue: that is known when everything is sold."""
    rows: list[Row] = []
    for number in range(1, _CUSTOMERS + 1):
        region = random.choices(tuple(CITIES), weights=(34, 21, 19, 26))[0]
        owner = person(random).last_name
        name = f"{owner} {random.choice(_COMPANY_KINDS)} {number}"
        segment = random.choices(_SEGMENTS, weights=(5, 4, 2))[0]
        since = day(random, date(2018, 1, 1), _FIRST_DAY)
        rows.append((number, name, segment, random.choice(CITIES[region]), region, since))
    return rows


def _sell(random: Random, prices: list[int], customers: list[Row], sellers: list[int]) -> _Selling:
    selling = _Selling()
    demand = popularity(random, len(customers))
    for number, ordered in enumerate(sorted(_order_days(random)), start=1):
        customer = random.choices(range(1, len(customers) + 1), cum_weights=demand)[0]
        products = random.sample(range(len(prices)), random.choices((1, 2, 3, 4, 5), (20, 25, 25, 18, 12))[0])
        lines = [_Line(p + 1, random.randint(1, 12), prices[p]) for p in products]
        percent = random.choice(_DISCOUNTS)
        gross = sum(line.quantity * line.cents for line in lines)
        discount = gross * percent // 100
        returned = 0
        if random.random() < _RETURN_RATE:
            line = random.choice(lines)
            returned = _return(random, selling, line, order=number, percent=percent, ordered=ordered)
        net = gross - discount - returned
        selling.revenue[customer] += net
        selling.items.extend(
            (number, at, line.product, line.quantity, money(line.cents)) for at, line in enumerate(lines, 1)
        )
        amounts = (money(gross), money(discount), money(returned), money(net))
        region, shipped = customers[customer - 1][_REGION], ordered + timedelta(days=random.randint(1, 9))
        selling.orders.append((number, customer, random.choice(sellers), region, ordered, shipped, *amounts))
    return selling


def _order_days(random: Random) -> Iterator[date]:
    """Business grows from year to year, and November and December are strong."""
    kept = 0
    while kept < _ORDERS:
        at = day(random, _FIRST_DAY, _LAST_DAY)
        season = 1.0 if at.month in {11, 12} else 0.7
        if random.random() < season * (0.7 + 0.15 * (at.year - _FIRST_DAY.year)):
            kept += 1
            yield at


def _return(
    random: Random, selling: _Selling, line: _Line, *, order: int, percent: int, ordered: date
) -> int:
    """Books the return of some of a line, refunded after discount: the refund in cents."""
    quantity = random.randint(1, line.quantity)
    refund = quantity * line.cents * (100 - percent) // 100
    at = ordered + timedelta(days=random.randint(10, 40))
    number = len(selling.returns) + 1
    reason = random.choice(_REASONS)
    selling.returns.append((number, order, line.product, quantity, money(refund), at, reason))
    return refund


def _targets(random: Random) -> list[Row]:
    return [
        (region, year, quarter, f"{random.randint(60, 140) * 5_000}.00")
        for region in CITIES
        for year in range(_FIRST_DAY.year, _LAST_DAY.year + 1)
        for quarter in (1, 2, 3, 4)
    ]
