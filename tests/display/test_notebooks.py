"""Bars and spinners in a notebook, with an IPython that only notes what it is asked to show."""

import sys
from types import SimpleNamespace

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.display import progress
from dirichlet_bandits.display.progress import in_notebook


@pytest.fixture
def shown(monkeypatch):
    """What a notebook was asked to show, in order."""
    told = []

    class Handle:
        def update(self, bundle, raw):
            told.append(bundle)

    def display(bundle, raw, display_id):
        assert raw
        assert display_id
        told.append(bundle)
        return Handle()

    shell = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    monkeypatch.setattr(progress, "_REDRAW_SECONDS", 0.0)
    return told


def test_bars_grow_and_leave_nothing(shown):
    assert in_notebook()
    with progress.bars({"a<b": 4}, None, "runs") as bar:
        bar.show("a<b", 3)
        end = progress.busy("compiling X, once")
        bar.show("a<b", 4)
        end()
        bar.show("a<b", 4)
    texts = [bundle["text/plain"] for bundle in shown]
    assert texts[0] == ""
    assert texts[1].startswith("a<b 0/4")
    assert texts[2].startswith("a<b 3/4")
    assert texts[3].endswith("; compiling X, once")
    assert "compiling" not in texts[4]
    assert shown[-1] == {"text/html": "", "text/plain": ""}
    assert "<progress max='4' value='3'></progress>" in shown[2]["text/html"]
    assert "a&lt;b" in shown[2]["text/html"]


def test_a_simulation_shows_them_unless_told(shown):
    coins = db.Bandit([db.Bernoulli(0.4), db.Bernoulli(0.6)])
    quick = {"horizon": 20, "replications": 4, "seed": 0, "workers": 1}
    db.simulate(coins, {"half": db.UCB1(sigma=0.5)}, progress=False, **quick)
    assert not any("half" in bundle["text/html"] for bundle in shown)
    db.simulate(coins, {"half": db.UCB1(sigma=0.5)}, **quick)
    assert any("half" in bundle["text/html"] for bundle in shown)


def test_what_takes_time_is_said_without_bars(shown):
    end = progress.busy("compiling X, once")
    assert shown[-1]["text/plain"] == "compiling X, once"
    end()
    assert shown[-1]["text/plain"] == ""


def test_bandits_and_studies_are_tables(monkeypatch):
    import scipy.stats

    laws = {"<a>": db.Bernoulli(0.25), "b": scipy.stats.gamma(2.0, scale=0.5)}
    shown = db.Bandit(laws)._repr_html_()
    assert "&lt;a&gt;" in shown
    assert "gamma(2.0, scale=0.5)" in shown
    assert shown.count("<svg") == 2
    (bold,) = [row for row in shown.split("<tr>") if "font-weight: bold" in row]
    assert ">b</td>" in bold
    assert "CVaR at 20 %" in db.Bandit(laws, objective=db.CVaR(0.2))._repr_html_()

    study = db.create_study("page", arms=["red", "blue"], policy="EqualSplit", bounds=(0, 7), seed=1)
    assert "0 trials" in study._repr_html_()
    assert "font-weight: bold" not in study._repr_html_()
    for trial in study.ask(40):
        study.tell(trial.id, trial.id % 3 + 5.0 * (trial.arm == "blue"))
    told = study._repr_html_()
    assert study.winner()._repr_html_().startswith("<pre>winner: blue\n")
    assert "Study page: EqualSplit" in told
    assert study.best_arm == "blue"
    (bold,) = [row for row in told.split("<tr>") if "font-weight: bold" in row]
    assert ">blue</td>" in bold
