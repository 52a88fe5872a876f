"""Every policy names papers that the bibliography has."""

import re
from pathlib import Path

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.policies.registry import all_policies


@pytest.mark.parametrize("name", all_policies())
def test_every_reference_has_an_entry(name):
    policy = all_policies()[name].example()
    labels, entries = policy.reference.split("; "), policy.bibtex.split("\n\n")
    assert len(entries) == len(labels), f"policies/references.bib lacks one of {labels}"
    for label, entry in zip(labels, entries, strict=True):
        assert entry.count("{") == entry.count("}")
        assert re.search(r"year = \{(\d{4})\}", entry)[1] == label[-5:-1]
        assert re.match(r"@\w+\{[a-z]+\d{4},", entry)


def test_the_key_of_an_entry_is_its_own():
    text = (Path(db.policies.__file__).parent / "references.bib").read_text(encoding="utf-8")
    keys = re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE)
    assert len(keys) == len(set(keys)) == text.count("\n% ") + 1


def test_a_policy_knows_its_papers():
    assert "doi = {10.1023/A:1013689704352}" in db.UCB1(sigma=1.0).bibtex
    assert db.ThompsonSampling("bernoulli").bibtex.count("@") == 2
