#!/bin/sh
# Makes .venv with the newest suitable choice: PYTHON if set, else python3, else python3.14 down to python3.11.
# Knows nothing of what is installed into it. Called by the Makefile, from the root of the checkout.
# Says one line and exits 2 when this machine has no Python that can do it.
set -eu

if [ -x .venv/bin/python ] && .venv/bin/python -c 'import pip' 2>/dev/null; then
    exit 0
fi

if [ -n "${PYTHON:-}" ]; then
    set -- "$PYTHON"
else
    set -- python3 python3.14 python3.13 python3.12 python3.11
fi

old=''
bare=''
for candidate in "$@"; do
    command -v "$candidate" >/dev/null 2>&1 || continue
    # a shim of a version manager may exist and still refuse to run: then it prints no version
    version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
    if ! "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        old="$candidate is Python $version"
    elif ! "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
        bare=${bare:-$candidate}
    else
        rm -rf .venv
        if "$candidate" -m venv .venv >/dev/null 2>&1; then
            exit 0
        fi
        rm -rf .venv
        bare=${bare:-$candidate}
    fi
done

if [ -n "$bare" ]; then
    echo "ringfence: $bare cannot make a virtual environment. Debian/Ubuntu: apt-get install -y python3-venv" >&2
elif [ -n "$old" ]; then
    echo "ringfence: needs Python 3.11 or newer, but $old. Choose another: make PYTHON=/path/to/python3.11" >&2
elif [ -n "${PYTHON:-}" ]; then
    echo "ringfence: PYTHON=$PYTHON does not run. Choose another: make PYTHON=/path/to/python3.11" >&2
else
    echo "ringfence: no Python found. Debian/Ubuntu: apt-get install -y python3 python3-venv" >&2
fi
exit 2
