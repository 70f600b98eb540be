# `make demo` answers a question, `make check` is for every change, `make test` checks everything. All set up .venv first.
# `make docs` builds the site of the documents into build/site; every warning and every broken link is an error.
# `make sanitize` checks the native kernels by themselves, under gcc's address, undefined-behaviour and thread sanitizers.
PYTHON ?= python3
PIP = .venv/bin/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
# What pip would do with one core, but for what nobody imports; files for other versions of Python cannot be compiled.
COMPILE = .venv/bin/python -m compileall -q -j 0 -x '/(tests?|testing|pip|_inductor|sympy)/' .venv/lib > /dev/null || true

.PHONY: demo check test quick-tests tests lint format sanitize docs clean

demo: .venv/installed
	.venv/bin/gareader demo

check: .venv/installed-dev
	@$(MAKE) --jobs=2 --no-print-directory lint quick-tests

test: .venv/installed-dev
	@$(MAKE) --jobs=2 --no-print-directory lint tests

PYTEST = .venv/bin/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

quick-tests: .venv/installed-dev
	$(PYTEST) -m "not slow"

tests: .venv/installed-dev
	$(PYTEST)

lint: .venv/installed-dev
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports

format: .venv/installed-dev
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

CHECK = $(CC) -std=gnu11 -g -O1 -Wall -Wextra -Wno-psabi -pthread $(filter-out native/memory.c,$(wildcard native/*.c))

sanitize:
	mkdir -p build
	$(CHECK) -fsanitize=address,undefined -fno-sanitize-recover=all -DEXACT_WORKSPACE -o build/check-address -ldl -lm
	build/check-address
	$(CHECK) native/memory.c -fsanitize=thread -o build/check-thread -ldl -lm
	build/check-thread

.venv/bin/pip:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/pip pyproject.toml setup.py constraints.txt $(wildcard native/*)
	$(PIP) -e .
	$(COMPILE)
	@touch $@

.venv/installed-dev: .venv/installed
	$(PIP) -e '.[dev]'
	$(COMPILE)
	@touch $@

docs: .venv/installed-docs
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict --quiet

.venv/installed-docs: .venv/installed
	$(PIP) -e '.[docs]'
	@touch $@

clean:
	rm -rf .venv
