"""Tests of the gate: its table, its shells, and what a call does from outside."""
