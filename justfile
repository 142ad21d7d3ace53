# `./run <recipe>` sets up .venv and runs a recipe; `./run --list` shows them all.

set positional-arguments := true

spread := "-n 4 --dist worksteal"  # two for each core: they wait for processes much of their time

# the whole thing on a sample project: no account, no key
demo *args:
    @loop demo "$@"

# everything: format, lint, types, import contracts, all tests, coverage; at the end, how long each took
check:
    #!/bin/sh
    set -eu
    times=$(mktemp)
    typed=$(mktemp)
    trap 'rm -f "$times" "$typed"' EXIT
    measured() {
        began=$(date +%s)
        {{ just_executable() }} "$@"
        printf '%6d  %s\n' $(($(date +%s) - began)) "$1" >>"$times"
    }
    measured lint
    measured types >"$typed" 2>&1 &  # beside the tests, which wait for processes a third of their time
    measured coverage "--times=$times"
    wait $! || { cat "$typed"; exit 1; }
    echo "seconds, and in the folders of tests those of all workers:"
    cat "$times"

# format check, ruff, import contracts
lint:
    ruff format --quiet --check .
    ruff check --quiet .
    lint-imports --no-logo

# mypy strict on source, tests and generators
types:
    mypy --no-error-summary

# the fast layer of the tests
test *args:
    pytest -q {{ spread }} -m "not slow and not trust and not kills" "$@"

# the slow layer: kill and resume, whole runs
slow *args:
    pytest -q {{ spread }} -m "slow and not trust and not kills" "$@"

# every moment at which a controller can be killed, of which the check takes some, and whole crowds
kills *args:
    pytest -q {{ spread }} -m kills "$@"

# the whole table of cheats, with every runner that is installed here; those that are not are counted by name
trust *args:
    pytest -q {{ spread }} -m trust "$@"

# all tests, and the only place where the coverage thresholds stand
coverage *args:
    coverage erase
    coverage run -m pytest -q {{ spread }} -m "not trust and not kills" "$@"
    coverage combine --quiet
    coverage report --fail-under=100 --include='src/loopwright/kernel/*,src/loopwright/loops/*,src/loopwright/app/views/*'
    coverage report --fail-under=90

# format, and fix what ruff can fix
fmt:
    ruff check --quiet --fix-only .
    ruff format --quiet .

# every figure of docs/performance.md, against its limit or peer
bench *args:
    python -m benchmarks "$@"

# the peers that some figures are taken against, in .bench-venv; and the public projects that P18 is measured on
bench-setup:
    python -m venv --clear .bench-venv
    .bench-venv/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers/requirements.txt
    python -m benchmarks.p18_verification --fetch
    python -m benchmarks.p18_verification --fetch sympy

# rewrite the generated pages under docs/
docs:
    pytest -q --update-golden tests/config/test_reference.py tests/test_schemas.py tests/loops/test_diagrams.py tests/cli/test_help.py

# rewrite the golden files; read the diff before you commit it
golden *args:
    pytest -q --update-golden -m "not slow and not trust and not kills" "$@"
