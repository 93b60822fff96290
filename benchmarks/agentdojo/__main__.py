"""`python -m benchmarks.agentdojo`: the same as `run`."""

from __future__ import annotations

import sys

from benchmarks.agentdojo.run import main

sys.exit(main())
