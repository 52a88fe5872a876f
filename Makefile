# make demo   sets everything up, runs the paper's experiments quickly, leaves report/index.html
# make test   sets everything up, checks style, types and imports, runs the tests
# make slow   the long statistical checks, at full scale
# make bench  ratios measured in one run

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test slow bench clean

.venv/ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

demo: .venv/ready
	$(BIN)/dirichlet-bandits paper

test: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --numprocesses 2

slow: .venv/ready
	$(BIN)/python -m pytest -m slow

bench: .venv/ready
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv report
