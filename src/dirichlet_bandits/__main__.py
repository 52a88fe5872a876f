"""``python -m dirichlet_bandits``: the command line without its launcher."""

from dirichlet_bandits.cli import app

if __name__ == "__main__":
    app(prog_name="dirichlet-bandits")
