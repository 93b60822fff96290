"""`python -m examples.order_desk [javascript]`: the demonstration."""

from __future__ import annotations

import sys

from examples.order_desk.demo import demo

if __name__ == "__main__":
    sys.exit(demo(*sys.argv[1:2]))
