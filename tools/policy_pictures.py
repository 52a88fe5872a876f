"""Draw the pictures of docs/policies.md, one per family of policies, and print and store the numbers that it quotes.

    python -m tools.policy_pictures               # all families: some minutes, most of them compilation
    python -m tools.policy_pictures perturbed     # some of them

Same seed, same pictures and numbers.
"""

import contextlib
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import dirichlet_bandits as db
from dirichlet_bandits.results.plot import slots, style

FOLDER = Path(__file__).parents[1] / "docs/figures/policies"
NUMBERS = FOLDER.with_suffix(".json")
SEED, HORIZON, RUNS = 2021, 5_000, 200
TIMES = np.unique(np.geomspace(1, HORIZON, 150).astype(int))
TWO_COINS = db.Bandit([db.Bernoulli(0.9), db.Bernoulli(0.8)])


class PlainBootstrap:
    """The bootstrap mean of 0/1 rewards and of nothing else: what bootstrap Thompson Sampling is without a prior."""

    def init(self, n_arms: int) -> None:
        self.pulls, self.sums = np.zeros(n_arms, dtype=int), np.zeros(n_arms)

    def select(self, rng: np.random.Generator) -> int:
        means = rng.binomial(self.pulls, self.sums / self.pulls) / self.pulls
        return int(rng.choice(np.flatnonzero(means == means.max())))

    def update(self, arm: int, reward: float) -> None:
        self.pulls[arm] += 1
        self.sums[arm] += reward


def play(bandit: db.Bandit | db.Piecewise, policies: dict[str, Any]) -> db.Result:
    """The simulation of every picture."""
    sizes = {"horizon": HORIZON, "replications": RUNS, "seed": SEED, "record": TIMES}
    return db.simulate(bandit, policies, workers=1, progress=False, **sizes)


def report(result: db.Result, *, above: float | None = None) -> None:
    """Mean, spread, largest regret, and the share of runs above some regret."""
    for policy in result.policies:
        final = np.asarray(result.final_regret(policy))
        error = final.std(ddof=1) / np.sqrt(final.size)
        line = f"  {policy:24s} {final.mean():8.1f} ± {error:.1f}, median {np.median(final):.1f}, max {final.max():.1f}"
        print(line if above is None else f"{line}, above {above:g}: {(final > above).sum()} of {final.size}")


def curves(name: str, result: db.Result, title: str, **options: Any) -> None:
    """Mean regret with bands."""
    save(result.plot(title=title, **options), name)


def tails(axes: Any, result: db.Result, title: str) -> None:
    """The share of runs that had at least a given regret in the end."""
    looks = slots(result.policies)
    for policy in result.policies:
        final = np.sort(np.asarray(result.final_regret(policy)))
        share = 1.0 - np.arange(final.size) / final.size
        axes.step(final, share, where="pre", label=policy, linewidth=1.8, **style(looks[policy]))
    axes.set(xscale="log", yscale="log")
    tidy(axes, f"regret after {HORIZON} pulls", "share of runs with at least this regret")
    axes.set_title(title, fontsize=10)


def save(figure: Figure, name: str) -> None:
    """At a size for a page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(FOLDER / f"{name}.png", dpi=100)


def tidy(axes: Any, xlabel: str, ylabel: str) -> None:
    """As in the pictures of regret."""
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)


def dirichlet() -> None:
    """The exact probability that a challenger with twenty rewards wins its duel."""
    rewards = np.random.default_rng(SEED).beta(2.0, 3.0, 20)
    policies = {
        "BDS(upper=1)": db.BDS(upper=1.0),
        "BDS(rho=4, gamma=0.1)": db.BDS(rho=4.0, gamma=0.1),
        "RDS()": db.RDS(),
        "QDS(rho=4, alpha=0.05)": db.QDS(rho=4.0, alpha=0.05),
    }
    mean = float(rewards.mean())
    targets = mean + np.linspace(0.002, 0.5, 40)
    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    axes = figure.add_subplot()
    for i, (name, policy) in enumerate(policies.items()):
        wins = [db.propensities(policy, [rewards, np.full(21, m)])[0] for m in targets]
        axes.semilogy(targets - mean, wins, label=name, linewidth=1.8, **style(i))
        print(f"  {name:24s} probability at a gap of 0.3: {np.interp(0.3, targets - mean, wins):.2g}")
    tidy(axes, "leader's mean minus the challenger's", "probability that the challenger wins")
    axes.set_title("Twenty rewards of Beta(2, 3) against a leader", fontsize=11)
    figure.legend(loc="outside right upper", frameon=False, handlelength=3)
    save(figure, "dirichlet")


def npts() -> None:
    """What a generous bound costs."""
    bandit = db.Bandit([db.Beta(4.0, 2.0), db.Beta(3.0, 3.0)])
    result = play(bandit, {f"NPTS(upper={u:g})": db.NPTS(upper=u) for u in (1.0, 2.0, 5.0)})
    report(result)
    curves(
        "npts",
        result,
        "Beta(4, 2) and Beta(3, 3)",
        lower_bound=db.theory.lower_bound(bandit, "bounded").constant,
        log_time=True,
    )


def med() -> None:
    """Two weights, and the index that both come from."""
    policies = {
        "MED(bernoulli)": db.policies.MED("bernoulli"),
        "MaillardSampling(0.5)": db.policies.MaillardSampling(sigma=0.5),
        "IMED(bernoulli)": db.IMED("bernoulli"),
    }
    result = play(TWO_COINS, policies)
    report(result)
    curves("med", result, "Bernoulli 0.9 and 0.8", log_time=True)


def dmed() -> None:
    """Lists of arms against an index, ten arms."""
    bandit = db.Bandit([db.Bernoulli(p) for p in (0.1, 0.05, 0.05, 0.05, 0.03, 0.03, 0.03, 0.01, 0.01, 0.01)])
    result = play(bandit, {"DMED(bernoulli)": db.policies.DMED("bernoulli"), "IMED(bernoulli)": db.IMED("bernoulli")})
    report(result)
    curves("dmed", result, "Ten Bernoulli arms, 0.1 and below", log_time=True)


def imed() -> None:
    """What is gained by knowing that the means have one summit."""
    bandit = db.Bandit([db.Bernoulli(p) for p in (0.3, 0.4, 0.5, 0.6, 0.5, 0.4, 0.3)])
    result = play(bandit, {"IMED": db.IMED("bernoulli"), "UnimodalIMED": db.policies.UnimodalIMED("bernoulli")})
    report(result)
    curves("imed", result, "Seven ordered Bernoulli arms", log_time=True)


def ucb() -> None:
    """From the widest confidence bound to the tightest."""
    policies = {
        "RUCBLT(sqrt-log)": db.policies.RUCBLT(f="sqrt-log"),
        "UCB1(0.5)": db.UCB1(sigma=0.5),
        "KLUCB": db.KLUCB("bernoulli"),
        "KLUCBPlusPlus": db.policies.KLUCBPlusPlus("bernoulli", horizon=HORIZON),
        "KLUCBSwitch": db.policies.KLUCBSwitch(upper=1.0, horizon=HORIZON),
    }
    result = play(TWO_COINS, policies)
    report(result)
    curves("ucb", result, "Bernoulli 0.9 and 0.8", log_time=True)


def thompson() -> None:
    """The right model, one that is too sure, and none."""
    bandit = db.Bandit([db.ClippedGaussian(0.6, 0.1, 0.0, 1.0), db.ClippedGaussian(0.5, 0.1, 0.0, 1.0)])
    policies = {
        "TS(gaussian, 0.1)": db.ThompsonSampling("gaussian", sigma=0.1),
        "TS(gaussian, 0.01)": db.ThompsonSampling("gaussian", sigma=0.01),
        "BinarizedTS(0, 1)": db.policies.BinarizedTS(lower=0.0, upper=1.0),
    }
    result = play(bandit, policies)
    report(result, above=50.0)
    curves("thompson", result, "Clipped Gaussian arms, 0.6 and 0.5")


def subsampling() -> None:
    """How often a run goes wrong: inside one family, and outside."""
    policies = {"BESA": db.policies.BESA(), "RBSDA": db.RBSDA(), "LBSDA": db.LBSDA(), "SSMC": db.policies.SSMC()}
    waiting = db.Bandit([db.Exponential(2.0), *(db.Exponential(1.0) for _ in range(3))])
    steady = db.Bandit([db.Uniform(0.2, 1.0), db.Uniform(0.45, 0.55)])
    figure = Figure(figsize=(8.0, 3.8), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    titles = ("Exponential, means 2, 1, 1, 1", "Uniform on [0.2, 1] and on [0.45, 0.55]")
    for axes, bandit, title, above in zip(panels, (waiting, steady), titles, (400.0, 100.0), strict=True):
        result = play(bandit, policies)
        print(f"  {title}")
        report(result, above=above)
        tails(axes, result, title)
    panels[1].set_ylabel("")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False, handlelength=3)
    save(figure, "subsampling")


def perturbed() -> None:
    """Means near the upper bound, where coins are bad company."""
    policies = {
        "PHE(1.1)": db.policies.PHE(a=1.1),
        "ReBoot(0.5)": db.policies.ReBoot(sigma=0.5),
        "MBE": db.policies.MBE(),
        "TS(bernoulli)": db.ThompsonSampling("bernoulli"),
    }
    result = play(TWO_COINS, policies)
    report(result)
    curves("perturbed", result, "Bernoulli 0.9 and 0.8", log_time=True)
    unlucky = [np.zeros(2), np.repeat([1.0, 0.0], [800, 200])]
    for name, policy in {**policies, "PHE(2.1)": db.policies.PHE(a=2.1)}.items():
        print(f"  {name:24s} an arm with rewards 0, 0 against 0.8: {db.propensities(policy, unlucky)[0]:.2g}")


def bootstrap() -> None:
    """With pseudo-rewards, with a prior, and without either."""
    policies = {
        "GIRO(1)": db.policies.GIRO(a=1.0),
        "BootstrapTS(10)": db.policies.BootstrapTS(artificial=10, binary=True),
        "OnlineBootstrapTS(100)": db.policies.OnlineBootstrapTS(replicates=100),
        "no prior": PlainBootstrap(),
    }
    result = play(TWO_COINS, policies)
    report(result, above=100.0)
    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    tails(figure.add_subplot(), result, "Bernoulli 0.9 and 0.8")
    figure.legend(loc="outside right upper", frameon=False, handlelength=3)
    save(figure, "bootstrap")


def cvar() -> None:
    """Four planting dates for maize, judged by their worst fifth of seasons."""
    arms = db.crops.maize_planting("spring")
    bandit = db.Bandit(arms.arms, names=arms.names, objective=db.CVaR(0.2))
    upper = 15_000.0
    policies = {
        "BCVTS": db.BCVTS(upper=upper, level=0.2),
        "CVaRUCB": db.policies.CVaRUCB(upper=upper, level=0.2, horizon=HORIZON),
        "UUCB": db.policies.UUCB(upper=upper, level=0.2),
        "NPTS": db.NPTS(upper=upper),
    }
    result = play(bandit, policies)
    report(result)
    print(f"  {'any date':24s} {HORIZON * bandit.gaps.mean():8.1f}")
    curves("cvar", result, "Four planting dates for maize, CVaR at 20 %", reward_unit="kg/ha")


def forgetting() -> None:
    """Three coins that change every thousand pulls (Besson 2019, chapter 6, problem 1)."""
    means = [(0.3, 0.5, 0.9), (0.3, 0.2, 0.9), (0.3, 0.2, 0.1), (0.7, 0.2, 0.1), (0.7, 0.5, 0.1)]
    world = db.Piecewise({1 + 1000 * k: [db.Bernoulli(p) for p in segment] for k, segment in enumerate(means)})
    klucb, changes = db.KLUCB("bernoulli"), len(means) - 1
    window, gamma = int(2 * np.sqrt(HORIZON * np.log(HORIZON) / changes)), 1 - np.sqrt(changes / HORIZON) / 4
    policies = {
        "KLUCB": klucb,
        f"KLUCB, window {window}": db.SlidingWindow(klucb, window),
        f"KLUCB, gamma {gamma:.4f}": db.policies.Discounted(klucb, gamma),
        f"SWLBSDA, window {window}": db.policies.SWLBSDA(window),
    }
    result = play(world, policies)
    report(result)
    curves("forgetting", result, "Three coins that change every 1000 pulls")


FAMILIES: tuple[Callable[[], None], ...] = (
    dirichlet, npts, med, dmed, imed, ucb, thompson, subsampling, perturbed, bootstrap, forgetting, cvar,
)  # fmt: skip


def main(names: list[str]) -> None:
    """The families named, or all."""
    by_name = {family.__name__: family for family in FAMILIES}
    for name in names or by_name:
        if name not in by_name:
            raise SystemExit(f"a family is one of {', '.join(by_name)} (got {name!r})")
        print(name, flush=True)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            by_name[name]()
        print(printed.getvalue(), end="", flush=True)
        known = json.loads(NUMBERS.read_text(encoding="utf-8"))
        known[name] = [" ".join(line.split()) for line in printed.getvalue().splitlines()]
        NUMBERS.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
