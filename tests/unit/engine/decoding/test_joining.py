"""Where a statement reads what its FROM does not hold, it begins anew behind FROM; nowhere else."""

from __future__ import annotations

import pytest

from engine.core.elements import WHOLE_TABLE
from engine.decoding.joining import begun_join
from schema_catalog.types import Snapshot
from tests.support.schemas import MUSIC, table

CARS = Snapshot(
    "cars",
    ("public",),
    (
        table("auto_data", "id year horsepower"),
        table("car_names", "makeid model"),
        table("people", "id name_first name_last"),
        table("vehicle_data", "id year horsepower weight"),
    ),
)
VEHICLES = {("public", "vehicle_data", WHOLE_TABLE): 0.9, ("public", "auto_data", "year"): 0.2}


@pytest.mark.parametrize(
    ("sql", "begun"),
    [
        (
            "SELECT model FROM car_names WHERE weight > 3",
            "SELECT car_names.model FROM car_names JOIN vehicle_data ON",
        ),
        (
            "SELECT model, year FROM car_names WHERE horsepower > 3",
            "SELECT car_names.model, vehicle_data.year FROM car_names JOIN vehicle_data ON",
        ),
        (
            "SELECT T2.model FROM people AS T1 JOIN car_names AS T2 ON T1.id = T2.makeid WHERE T2.year = 1970",
            "SELECT t2.model FROM people AS t1 JOIN car_names AS t2 ON t1.id = t2.makeid JOIN vehicle_data ON",
        ),
        (
            "SELECT model FROM car_names WHERE makeid IN (SELECT makeid FROM car_names ORDER BY year LIMIT 1)",
            "SELECT model FROM car_names WHERE makeid IN"
            " (SELECT car_names.makeid FROM car_names JOIN vehicle_data ON",
        ),
        (
            "SELECT vehicle_data.weight, model FROM car_names",
            "SELECT vehicle_data.weight, car_names.model FROM car_names JOIN vehicle_data ON",
        ),
        (
            "SELECT model FROM car_names WHERE year = 1970 UNION SELECT year FROM auto_data",
            "SELECT car_names.model FROM car_names JOIN vehicle_data ON",
        ),
    ],
)
def test_it_ends_where_the_missing_table_is_joined(sql: str, begun: str) -> None:
    assert begun_join(sql, CARS, VEHICLES) == begun


def test_of_tables_with_the_column_it_is_the_one_that_the_question_is_about() -> None:
    sql = "SELECT model FROM car_names WHERE year = 1970"
    autos = {("public", "auto_data", "year"): 0.4}
    assert begun_join(sql, CARS, autos) == "SELECT car_names.model FROM car_names JOIN auto_data ON"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT model FROM car_names",
        "SELECT year FROM vehicle_data ORDER BY weight",
        "SELECT COUNT(*) AS year FROM car_names ORDER BY year",
        "SELECT nothing FROM car_names",
        "SELECT name FROM people",
        "SELECT t1.name FROM people AS t1",
        "SELECT sub.year FROM (SELECT model FROM car_names) AS sub",
        "SELECT model FROM car_names AS c WHERE EXISTS (SELECT 1 FROM vehicle_data AS v WHERE v.id = c.makeid)",
        "SELECT model FROM",
    ],
)
def test_nothing_where_no_table_is_missing_or_none_has_it(sql: str) -> None:
    assert begun_join(sql, CARS, {}) is None


def test_a_table_is_not_joined_under_a_name_that_is_taken() -> None:
    assert begun_join("SELECT capacity FROM concert AS stadium", MUSIC, {}) is None
