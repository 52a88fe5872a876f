"""Read other studies than simulations of one bandit: ``study = "kinf"``, ``"qds-condition"``, ``"random-arms"``."""

from collections.abc import Callable, Mapping
from typing import Any

from dirichlet_bandits import specs
from dirichlet_bandits.environments import Law
from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.experiments import fields
from dirichlet_bandits.experiments.claims import Claim
from dirichlet_bandits.experiments.kinf_study import KinfStudy, RangeClaim
from dirichlet_bandits.experiments.qds_study import VARIED, AdmissibleClaim, QDSPanel, QDSStudy
from dirichlet_bandits.experiments.random_arms import RandomArms, RandomClippedMixture, RandomLaw, RandomMultinomial
from dirichlet_bandits.experiments.reading import LAWS, claims, objective_of, parse_with, policies, published
from dirichlet_bandits.specs import FieldError
from dirichlet_bandits.theory.laws import continuous

Study = KinfStudy | QDSStudy | RandomArms
RANDOM_LAWS: dict[str, Callable[..., RandomLaw]] = {
    "multinomial": RandomMultinomial,
    "clipped-mixture": RandomClippedMixture,
}


def parse_study(text: str, source: str = "study.toml") -> Study:
    """Parse the study that a TOML text describes.

    >>> parse_study('study = "magic"')
    Traceback (most recent call last):
    dirichlet_bandits.errors.FormatError: study.toml: 'study' must be one of 'kinf', 'qds-condition', 'random-arms' \
(got 'magic')
    """
    return parse_with(_study, text, source)


def _study(content: Mapping[str, Any], default_title: str) -> Study:
    """Make the study that the key ``study`` names."""
    makers: dict[str, Callable[[Mapping[str, Any], str], Study]] = {
        "kinf": _kinf,
        "qds-condition": _qds,
        "random-arms": _random,
    }
    if content.get("study") not in makers:
        raise ArgumentError("study", one_of(makers), content.get("study"))
    return makers[content["study"]](content, default_title)


def _kinf(content: Mapping[str, Any], default_title: str) -> KinfStudy:
    """Make a study of the empirical Kinf from the content of its file."""
    scale = ("samples", "sizes", "shown", "seed")
    fields.only_known("", content, ("study", "title", *scale, "laws", "paper", "claims"))
    fields.required(content, (*scale, "laws"))
    tables = fields.tables(content, "laws", "law")
    names = fields.names("laws", tables, [f"law {k}" for k in range(len(tables))])
    laws: dict[str, Law] = {}
    targets: dict[str, float] = {}
    for k, (name, table) in enumerate(zip(names, tables, strict=True)):
        fields.required(table, ("target",), f"laws[{k}].")
        targets[name] = table["target"]
        rest = {key: value for key, value in table.items() if key != "target"}
        laws[name] = specs.choose(f"laws[{k}]", "law", LAWS, rest)
    return KinfStudy(
        title=content.get("title", default_title),
        laws=laws,
        targets=targets,
        paper=published(content),
        claims=claims(content, RangeClaim),
        **{key: content[key] for key in scale},
    )


def _qds(content: Mapping[str, Any], default_title: str) -> QDSStudy:
    """Make a study of the quantile condition from the content of its file."""
    fields.only_known("", content, ("study", "title", "panels", "paper", "claims"))
    return QDSStudy(
        title=content.get("title", default_title),
        panels=tuple(_panel(f"panels[{k}]", table) for k, table in enumerate(fields.tables(content, "panels", "law"))),
        paper=published(content),
        claims=claims(content, AdmissibleClaim),
    )


def _random(content: Mapping[str, Any], default_title: str) -> RandomArms:
    """Make random problems from the content of their file; the table ``[random]`` describes how arms are drawn."""
    scale = ("horizon", "problems", "seed")
    fields.only_known("", content, ("study", "title", *scale, "objective", "random", "policies", "paper", "claims"))
    fields.required(content, (*scale, "random", "policies"))
    table = specs.one_table(content, "random") or {}
    fields.required(table, ("arms",), "random.")
    rest = {key: value for key, value in table.items() if key != "arms"}
    return RandomArms(
        title=content.get("title", default_title),
        law=specs.choose("random", "law", RANDOM_LAWS, rest),
        n_arms=table["arms"],
        objective=objective_of(content),
        policies=policies(content),
        paper=published(content),
        claims=claims(content, Claim),
        **{key: content[key] for key in scale},
    )


def _panel(where: str, table: dict[str, Any]) -> QDSPanel:
    """Make one panel of the quantile condition from its table."""
    needed = ("name", "law", "target", "vary", "from", "to")
    fields.only_known(f"{where}.", table, (*needed, *VARIED))
    fields.required(table, needed, f"{where}.")
    if table["vary"] not in VARIED:
        raise ArgumentError(f"{where}.vary", one_of(VARIED), table["vary"])
    (stays,) = (name for name in VARIED if name != table["vary"])
    if stays not in table:
        raise FieldError(f"'{where}.{stays}' is missing: its value while '{table['vary']}' varies")
    if not isinstance(table["law"], dict):
        raise ArgumentError(f"{where}.law", "a table, such as { law = 'Exponential', mean = 2.0 }", table["law"])
    law = specs.under(where, continuous, "law", specs.choose(f"{where}.law", "law", LAWS, table["law"]))
    fixed = {name: table[name] for name in ("name", "target", "vary")}
    return specs.under(where, QDSPanel, law=law, start=table["from"], stop=table["to"], fixed=table[stays], **fixed)
