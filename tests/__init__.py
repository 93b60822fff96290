"""Tests of ringfence; folders mirror `src/ringfence`."""
