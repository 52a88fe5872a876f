# make demo   installs the package, runs the paper's experiments quickly, leaves report/index.html
# make test   installs the tools too, checks style, types and imports, runs the tests
# make quick  an answer within two minutes: one case of each test, without browsers, databases and long files
# make slow   the long statistical checks, at full scale
# make bench  ratios measured in one run
# make wheel  a wheel for this platform that starts at once: policies are compiled already
# make docs   the documentation site, in site/; open site/index.html, no server and no network needed

PYTHON ?= python3
BIN := .venv/bin

# Tests of PostgreSQL, of the dashboard and of proxies need programs of the system; without them, and without the right to
# install them, they are skipped.
define PROGRAMS
missing=""; \
command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="postgresql"; \
command -v chromium >/dev/null && command -v chromedriver >/dev/null || missing="$$missing chromium chromium-driver"; \
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || missing="$$missing nginx"; \
if [ -n "$$missing" ]; then \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends $$missing; \
	else echo "not on this machine: $$missing; their tests will be skipped"; fi; fi
endef

.PHONY: demo test quick programs types tests slow bench docs wheel clean

.venv/made:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv .venv
	touch $@

.venv/ready-demo: .venv/made pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/ready: .venv/made pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch .venv/ready-demo $@

.venv/ready-docs: .venv/ready-demo
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

demo: .venv/ready-demo
	$(BIN)/dirichlet-bandits paper

programs:
	-@$(PROGRAMS)

test:
	$(MAKE) --jobs 2 --no-print-directory .venv/ready programs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(MAKE) --jobs 2 --no-print-directory types tests

types:
	$(BIN)/mypy

# Each process begins with its half, in order: the two hardly ever compile the same thing at the same time.
tests:
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

quick: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal --quick

slow: .venv/ready programs
	$(BIN)/python -m pytest -m slow -o faulthandler_timeout=0

bench: .venv/ready
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.compiling
	$(BIN)/python -m benchmarks.live
	$(BIN)/python -m benchmarks.service

docs: .venv/ready-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo 'open site/index.html'

wheel: .venv/ready-demo
	$(BIN)/python tools/platform_wheel.py

clean:
	rm -rf .venv .peers report site
