"""What every test shares: one profile for property tests, so that a slow machine is not a failure."""

from __future__ import annotations

import os

from hypothesis import settings

# no deadline: two noisy cores; no database: a failing example belongs into the test as an `@example`
settings.register_profile("ringfence", deadline=None, database=None, derandomize="CI" in os.environ)
settings.load_profile("ringfence")
