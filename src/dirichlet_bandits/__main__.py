"""``python -m dirichlet_bandits``: the command line without its launcher."""

from dirichlet_bandits.cli import run

if __name__ == "__main__":
    run()
