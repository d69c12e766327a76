"""Names, places and dates for the generated samples: plausible, and the same for the same seeded `Random`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate
from random import Random


def words(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


FIRST_NAMES = words(
    """
    Aisha Alan Alice Amara Andre Anna Ben Bianca Carlos Carmen Chloe Daniel David Diego Elena Emma Eric
    Fatima Felix Grace Hana Henry Hugo Ines Ivan Jack James Jasmin John Jonas Julia Kai Karin Kofi Laura
    Leila Leo Lena Liam Linda Lucas Lucy Maria Mark Martin Maya Mia Mila Nadia Nina Noah Nora Oliver
    Omar Oscar Paula Peter Priya Rosa Ruth Sam Sara Simon Sofia Tara Thomas Tom Vera Victor Yusuf Zoe
    """
)
LAST_NAMES = words(
    """
    Adams Ahmed Andersen Baker Becker Bell Brown Castillo Chen Clark Costa Davies Diaz Dubois Evans
    Fischer Ford Garcia Gomez Gray Green Hall Hansen Harris Hill Hughes Ito Jackson Jensen Jones Kaya
    Keller Khan King Klein Kim Kumar Lang Lee Lewis Lopez Martin Mensah Meyer Moore Morales Morris
    Nguyen Novak Okafor Olsen Ortiz Owen Park Patel Perez Petrov Price Reed Reyes Rossi Russo Santos
    Sato Schmidt Scott Silva Singh Smith Stone Tanaka Taylor Torres Turner Vogel Walker Wang Ward Watson
    Weber White Wilson Wood Wright Young Zhang
    """
)
CITIES = {
    "East": ("Boston", "New York", "Philadelphia", "Baltimore", "Albany", "Providence", "Hartford"),
    "Midwest": ("Chicago", "Detroit", "Columbus", "Minneapolis", "Milwaukee", "Omaha", "Springfield"),
    "South": ("Atlanta", "Houston", "Miami", "Nashville", "Charlotte", "New Orleans", "Richmond"),
    "West": ("Seattle", "Portland", "Denver", "San Diego", "Phoenix", "Sacramento", "Boise"),
}
"""Region → its cities."""


@dataclass(frozen=True, slots=True)
class Person:
    """A made-up person."""

    first_name: str
    last_name: str

    def email(self, number: int, domain: str) -> str:
        """An address that `number` makes unique."""
        return f"{self.first_name}.{self.last_name}{number}@{domain}".lower()


def person(random: Random) -> Person:
    """First and last name, drawn independently."""
    return Person(random.choice(FIRST_NAMES), random.choice(LAST_NAMES))


def day(random: Random, first: date, last: date) -> date:
    """A day from `first` to `last`, both included."""
    return first + timedelta(days=random.randint(0, (last - first).days))


def popularity(random: Random, count: int) -> list[float]:
    """Cumulative weights for `Random.choices`: a few are much in demand, most are not (Pareto, capped)."""
    return list(accumulate(min(random.paretovariate(1.3), 12.0) for _ in range(count)))


def money(cents: int) -> str:
    """Cents as a decimal number."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02}"
