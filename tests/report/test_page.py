"""The report is one page that loads nothing, with every name escaped, and files beside it."""

import base64
import dataclasses
import math
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import dirichlet_bandits as db
from dirichlet_bandits import report
from dirichlet_bandits.experiments import Claim, Experiment, Panel, PlotSettings, Printed, Published
from dirichlet_bandits.experiments.catalogue import PAPERS
from dirichlet_bandits.report.chapters import Chapter, otherwise, statements
from dirichlet_bandits.report.judging import Contrast, Verdict
from dirichlet_bandits.report.writing import sentence, versions
from tests.report.made_up import result

EVIL = '<script>alert("1 & 2")</script>'
MACHINE = "a processor, 2 cores, Linux"
VOID = {"meta", "img", "br", "hr", "link"}


def making(*how):
    return report.Making(*how, paper=PAPERS["dirichlet"], machine=MACHINE)


class Balanced(HTMLParser):
    """Collects tags and their attributes; complains of tags that are not closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def experiment():
    return Experiment(
        f"Coins {EVIL}",
        db.Bandit([db.Bernoulli(0.4), db.Bernoulli(0.6)], names=[f"left {EVIL}", "right"]),
        {EVIL: db.UCB1(0.5), "$x^ & <b> $": db.RDS()},
        horizon=100,
        replications=30,
        seed=3,
        plot=PlotSettings(reward_unit="coins"),
        figures=[Panel("both", "both of them", [EVIL, "$x^ & <b> $"])],
        paper=Published("section 9", f"About {EVIL}", "It differs.", {EVIL: Printed(1234.5, 2.0, 3.0, 4.0)}),
        claims=[Claim(f"{EVIL} wins.", lower=[EVIL], than=["$x^ & <b> $"], reading="by <a lot>")],
    )


@pytest.fixture(scope="module")
def written(experiment, tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    made = result(dict(zip(experiment.policies, 10 + rng.standard_normal((2, 30)), strict=True)))
    chapters = [report.regret_chapter("coins", experiment, made, quick=True)]
    page = report.write(chapters, out, making(30, "dirichlet-bandits paper --only coins", 12.0))
    assert page == out / "index.html"
    return out, page.read_text(encoding="utf-8")


def test_it_is_well_formed(written):
    parser = Balanced()
    parser.feed(written[1])
    parser.close()
    assert parser.open == []


def test_it_loads_nothing(written):
    parser = Balanced()
    parser.feed(written[1])
    tags = [tag for tag, _ in parser.seen]
    assert not {"script", "link", "iframe", "object", "embed"} & set(tags)
    images = [attributes for tag, attributes in parser.seen if tag == "img"]
    assert len(images) == 3
    assert all(image["src"].startswith("data:image/svg+xml;base64,") and image["alt"] for image in images)
    assert all(a["href"].startswith("#") for tag, a in parser.seen if tag == "a")
    assert not re.search(r"https?://|@import|url\(", written[1])


def test_links_lead_somewhere(written):
    parser = Balanced()
    parser.feed(written[1])
    ids = {attributes["id"] for _, attributes in parser.seen if "id" in attributes}
    assert {attributes["href"][1:] for tag, attributes in parser.seen if tag == "a"} <= ids


def test_names_are_escaped(written):
    assert EVIL not in written[1]
    assert "&lt;script&gt;" in written[1]
    assert "by &lt;a lot&gt;" in written[1]


def test_it_says_what_was_done(written):
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", written[1]))
    for words in ("quick run: 30 replications", "seed 3", "section 9", "It differs.", "coins", MACHINE, "12.0 s"):
        assert words in text
    assert "dirichlet-bandits paper --only coins" in text
    assert "1 234" in text  # what the paper printed
    assert all(f"{name} {version}" in text for name, version in versions().items())


def test_files_stand_beside_it(written):
    out, _ = written
    names = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    figures = {f"figures/coins-{name}.{end}" for name in ("laws", "regret-both") for end in ("png", "pdf")}
    figures |= {"figures/headline.png", "figures/headline.pdf"}
    assert names == {"index.html", "results.md", "tables/coins.csv", "tables/coins-claims.csv", *figures}
    assert (out / "figures/coins-laws.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "figures/coins-laws.pdf").read_bytes().startswith(b"%PDF")


def test_tables_hold_raw_numbers(written, experiment):
    frame = pd.read_csv(written[0] / "tables/coins.csv")
    assert list(frame["policy"]) == list(experiment.policies)
    assert frame["paper_mean"][0] == 1234.5
    assert np.isnan(frame["paper_mean"][1])
    assert abs(frame["mean"] - 10).max() < 1
    claims = pd.read_csv(written[0] / "tables/coins-claims.csv")
    assert list(claims["outcome"]) == ["undecided"]


def test_summary_in_markdown(written):
    text = (written[0] / "results.md").read_text(encoding="utf-8")
    assert "in a quick run of 30 replications" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert any(line.startswith("|---|---:|") for line in rows)
    assert "**undecided**" in text


def test_a_figure_says_quick_and_a_full_one_does_not(experiment):
    made = result({name: np.arange(30.0) for name in experiment.policies})
    for quick in (True, False):
        for picture in report.regret_chapter("coins", experiment, made, quick=quick).pictures:
            texts = [text.get_text() for text in picture.figure.texts]
            assert ("quick run: 30 replications" in texts) == quick


def test_at_full_scale_it_says_how_far_the_printed_mean_is(experiment):
    paper = Published(place="", about="", printed={name: Printed(12.0, 3.0) for name in experiment.policies})
    full = dataclasses.replace(experiment, replications=30, paper=paper)
    made = result({name: np.arange(30.0) for name in experiment.policies})
    table = report.regret_chapter("coins", full, made, quick=False).tables[0]
    spread = np.arange(30.0).std(ddof=1)
    z = (14.5 - 12.0 - 0.05) / np.hypot(spread, 3.0) * np.sqrt(30)
    np.testing.assert_allclose(table.frame["z"], z)
    assert table.headers[-1] == "z"
    assert "z" not in report.regret_chapter("coins", full, made, quick=True).tables[0].frame


def test_equal_chapters_give_equal_pages(experiment, tmp_path):
    made = result({name: np.arange(30.0) for name in experiment.policies})
    pages = []
    for k in range(2):
        chapters = [report.regret_chapter("coins", experiment, made, quick=False)]
        pages.append(report.write(chapters, tmp_path / str(k), making(None, "x", 1.0)).read_bytes())
    assert pages[0] == pages[1]


def test_a_verdict_in_words(experiment):
    made = result({EVIL: np.linspace(9, 11, 30), "$x^ & <b> $": np.linspace(10, 12.5, 30)})
    (verdict,) = report.regret_chapter("coins", experiment, made, quick=False).verdicts
    text = sentence(verdict)
    assert text.startswith(f"Mean regret, {EVIL} \N{MINUS SIGN} $x^ & <b> $: \N{MINUS SIGN}1.25 [")
    assert text.endswith("ratio 0.889; should be below 0; 30 replications.")


def test_the_best_rows_are_marked(experiment):
    """The first is lowest; the second is 0.1 above, in which case it may be noise, or 5.1."""
    names = list(experiment.policies)
    rng = np.random.default_rng(0)
    low = 10 + rng.standard_normal(30)
    for shift, marks in ((0.0, ["★", "≈"]), (5.0, ["★", ""])):
        noise = rng.standard_normal(30)
        made = result({names[0]: low, names[1]: low + shift + 0.1 + noise - noise.mean()})
        (table,) = report.regret_chapter("coins", experiment, made, quick=False).tables
        assert table.marks == marks


def test_a_line_that_flattens_the_others_has_a_second_scale(experiment):
    policies = {name: db.UCB1(1.0) for name in "abcd"}
    task = dataclasses.replace(experiment, policies=policies, figures=(), claims=(), paper=None)
    for last, tops in ((15.0, [15.75]), (100.0, [105.0, 12.495])):
        made = result({"a": [9.0, 10.0, 11.0], "b": [9.0, 11.0, 12.0], "c": [8.0, 9.0, 9.5], "d": [last] * 3})
        figure = report.regret_chapter("coins", task, made, quick=False).pictures[1].figure
        found = [axes.get_ylim()[1] for axes in figure.axes if axes.get_ylabel()]
        assert found == pytest.approx(tops)  # 5 % above the highest 95 % quantile


def chapter(name, verdicts, of=""):
    return Chapter(name, name, Published("", "", of=of), "", None, [], [], verdicts)


def judged(says, reading, value):
    return Verdict(says, reading, [Contrast("x", value, value - 0.1, value + 0.1, -math.inf, 0.0)], 10)


def test_readings_of_a_claim():
    base = chapter("coins", [judged("A wins.", "", 1.0), judged("B wins.", "", 1.0)])
    other = chapter("coins-fair", [judged("A wins.", "fair", -1.0), judged("A wins.", "bent", 0.0)], of="coins")
    far = chapter("dice-fair", [judged("A wins.", "other dice", -1.0)], of="dice")
    everything = [base, other, far]
    assert [v.reading for v in otherwise(base, base.verdicts[0], everything)] == ["fair", "bent"]
    assert otherwise(base, base.verdicts[1], everything) == []
    (statement,) = statements([other])
    assert not statement.certain
    assert statement.conclusion == "Supported by: fair."
    assert statements([base])[1].conclusion == "No reading supports this statement."
    (all_of_them,) = statements([far])
    assert all_of_them.conclusion == "Every reading supports this statement."


def test_colors_follow_the_choice_of_dark_pages(written):
    image = re.search(r"data:image/svg\+xml;base64,([^\"]+)", written[1])[1]
    svg = base64.b64decode(image).decode()
    assert "prefers-color-scheme:dark" in svg
    styles = re.findall(r'style="([^"]*)"', svg)
    assert any("var(--ffffff)" in style for style in styles)
    assert not any(": #000000" in style or ": #ffffff" in style for style in styles)
