"""The bundled migrations."""

from __future__ import annotations

from schema_catalog.migrate import bundled


def test_numbers_run_without_a_gap_and_every_file_says_something() -> None:
    migrations = bundled()
    assert [migration.name[:4] for migration in migrations] == [
        f"{n:04}" for n in range(1, len(migrations) + 1)
    ]
    assert all(migration.sql.strip() for migration in migrations)
    assert len({migration.digest for migration in migrations}) == len(migrations)
