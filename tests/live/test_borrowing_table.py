"""The table on borrowing in ``docs/live.md`` is what ``python -m benchmarks.borrowing --write`` made."""

import json

import pytest
from benchmarks.borrowing import LOSSES, PAGE, REPLICATIONS, WEIGHTS, lost, table, with_table, yields_by_site

SITES = yields_by_site()
STORED = json.loads(LOSSES.read_text(encoding="utf-8"))


def test_the_page_shows_the_stored_losses():
    assert list(STORED) == [f"{borrow:g}" for borrow in WEIGHTS]
    assert {len(games) for games in STORED.values()} == {REPLICATIONS}
    page = PAGE.read_text(encoding="utf-8")
    assert with_table(page, table(SITES, STORED)) == page


@pytest.mark.parametrize("borrow", [0.0, 1.0])
def test_a_replication_gives_the_stored_losses_again(borrow):
    assert lost(SITES, borrow, 0) == pytest.approx(STORED[f"{borrow:g}"][0], abs=1e-6)
