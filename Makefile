# Two commands: `make demo` answers a question, `make test` checks everything. Both set up .venv first.
PYTHON ?= python3
PIP = .venv/bin/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test format clean

demo: .venv/installed
	.venv/bin/gareader demo

test: .venv/installed-dev
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/python -m pytest

format: .venv/installed-dev
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

.venv/bin/pip:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/pip pyproject.toml setup.py constraints.txt $(wildcard native/*)
	$(PIP) -e .
	@touch $@

.venv/installed-dev: .venv/installed
	$(PIP) -e '.[dev]'
	@touch $@

clean:
	rm -rf .venv
