"""The page of faults says what the tests say."""

from __future__ import annotations

import pytest
from test_docs import script

fault_table = script("fault_table")


@pytest.fixture(scope="module")
def rows():
    if not fault_table.CATALOGUE.is_file():
        pytest.skip(f"no catalogue at {fault_table.CATALOGUE}")
    return fault_table.rows(fault_table.CATALOGUE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def tests():
    return fault_table.marked(fault_table.ROOT / "tests")


def test_the_page_is_current_and_every_mark_is_of_a_row(rows, tests):
    assert len(rows) > 100
    assert set(tests) <= {row.id for row in rows}
    assert fault_table.PAGE.read_text(encoding="utf-8") == fault_table.page(rows, tests)


def test_every_category_is_tested_and_few_rows_cannot_apply(rows, tests):
    assert {row.category for row in rows if row.id in tests} == {row.category for row in rows}
    assert 12 * len(set(fault_table.CANNOT_APPLY) - set(tests)) <= len(rows)
    assert all(row.id in tests for row in rows if row.severity in ("Critical", "High") and row.id != "B202")
