"""One line of figures at the end of a run, so that growth is seen before it hurts."""

from __future__ import annotations

from statistics import median

from tests.architecture.source import modules


def pytest_terminal_summary(terminalreporter: object) -> None:
    sizes = [module.text.count("\n") for module in modules() if module.text.count("\n") > 1]
    line = f"source: {len(sizes)} modules, {sum(sizes)} lines, median {median(sizes):.0f}, largest {max(sizes)}"
    write = getattr(terminalreporter, "write_line")  # noqa: B009
    write(line)
