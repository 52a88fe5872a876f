"""Every policy names papers that the bibliography has."""

import re

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.policies.bibliography import bibtex
from dirichlet_bandits.policies.catalogue import POLICIES


@pytest.mark.parametrize("name", POLICIES)
def test_every_reference_has_an_entry(name):
    labels = POLICIES[name].reference.split("; ")
    entries = [bibtex(label) for label in labels]
    assert all(entries), f"policies/bibliography.py has no row for one of {labels}"
    for label, entry in zip(labels, entries, strict=True):
        assert entry.count("{") == entry.count("}")
        assert re.search(r"year = \{(\d{4})\}", entry)[1] == label[-5:-1]
        assert re.match(r"@\w+\{[a-z]+\d{4},", entry)


def test_a_policy_knows_its_papers():
    assert "doi = {10.1023/A:1013689704352}" in db.UCB1(sigma=1.0).bibtex
    assert db.ThompsonSampling("bernoulli").bibtex.count("@") == 2
