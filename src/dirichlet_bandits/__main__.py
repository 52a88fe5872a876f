"""Run the command line with ``python -m dirichlet_bandits``, without the installed launcher."""

from dirichlet_bandits.cli import run

if __name__ == "__main__":
    run()
