"""Tests of what ringfence offers to other people's tests."""
