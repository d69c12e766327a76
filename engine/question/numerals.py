"""Numbers and months in words: one table of each."""

from __future__ import annotations

NUMBERS = dict(
    zip("two three four five six seven eight nine ten eleven twelve".split(), range(2, 13), strict=True)  # noqa: SIM905  a row reads better so
)
"""From 2 on. "One" is seldom a number."""

NUMBER = "|".join(NUMBERS)

MONTHS = {
    month: number
    for number, month in enumerate(
        "january february march april may june july august september october november december".split(),  # noqa: SIM905  a calendar reads better so
        1,
    )
}

MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS).replace("sep(?:", "sep(?:t|")
"""A month's name, in full or in short, as a regular expression without groups that it keeps."""


def month_number(name: str) -> int:
    """Of a name that is written as `MONTH` has it."""
    return next(number for month, number in MONTHS.items() if month.startswith(name.lower()[:3]))
