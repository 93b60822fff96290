"""The demonstration: builds the shop, runs the script through `ringfence run`, and shows what the database says after.

At a terminal you approve or refuse the refund; without one, `approvals.toml` decides. Everything happens in a folder
that is gone afterwards. Started by `make demo`; it is the same command that anybody can type.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from examples.order_desk import seed
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from ringfence.cli import main as ringfence

HERE = Path(__file__).parent
SHOWN = {"python": ("script.py", range(9, 18)), "javascript": ("script.js", range(5, 14))}
"""By language, the script and the lines of it that are shown beforehand: the first calls."""


def demo(language: str = "python") -> int:
    """Run the demonstration with the script in a language; 0 unless something other than a refusal went wrong."""
    console = Console(highlight=False)
    asks = sys.stdin.isatty() and sys.stderr.isatty()
    name, lines = SHOWN[language]
    script = _shown(HERE / name)
    arguments = ["run", script, "--tools", "examples.order_desk.tools", "--unsafe-local"]
    arguments += ["--approve", "ask" if asks else _shown(HERE / "approvals.toml")]
    with tempfile.TemporaryDirectory(prefix="order-desk-") as folder:
        os.environ["ORDER_DESK_DB"] = database = str(Path(folder) / "shop.db")
        seed.build(database)
        before = _refunds(database)
        _introduce(console, asks=asks)
        _heading(console, f"{script}, lines {lines.start} to {lines.stop - 1}")
        code_shown = "\n".join((HERE / name).read_text().splitlines()[lines.start - 1 : lines.stop - 1])
        console.print(Syntax(code_shown, language, theme="ansi_light", background_color="default", word_wrap=True))
        _heading(console, "The run")
        line = shlex.join([_command(), *arguments])
        console.print(Text.assemble(("$ ", "dim"), (line, "bold"), "\n"), soft_wrap=True)  # one line, to be copied
        sys.stdout.flush()
        code = ringfence(arguments)
        new = [row for row in _refunds(database) if row not in before]
        _heading(console, "What the database says now")
        _prove(console, database, new)
    if code == 0 or (code == 1 and asks and not new):
        return 0
    return code


def _shown(path: Path) -> str:
    """Relative to the current folder where that is shorter."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def _command() -> str:
    """What to type for `ringfence` here: it is on the path only once the environment is activated."""
    return "ringfence" if shutil.which("ringfence") else _shown(Path(sys.executable).with_name("ringfence"))


def _heading(console: Console, text: str) -> None:
    console.print()
    console.rule(Text(text, style="bold"), align="left", style="dim")


def _introduce(console: Console, *, asks: bool) -> None:
    console.print(
        f"A small shop: {seed.CUSTOMERS} customers, {seed.ORDERS} orders, and somebody who paid twice. The script below, as a"
        " model would write it, finds the copy, refunds it and writes a mail. It runs in a jail: its only way out are"
        " the shop's six tools, one of which needs a person's approval."
    )
    if asks:
        console.print("\nThat person is you: the run waits for your answer, y or n.", style="bold")
    else:
        console.print("\nThere is no terminal here to ask on, so approvals.toml decides.", style="bold")


def _refunds(database: str) -> list[tuple[int, int, str]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute("SELECT order_id, amount_cents, reason FROM refunds ORDER BY refund_id").fetchall()


def _prove(console: Console, database: str, new: list[tuple[int, int, str]]) -> None:
    if not new:
        console.print("Nothing was refunded and no mail was written: a refused call never reaches its tool.")
        return
    table = Table("order", "refunded", "reason", title="refunds", title_justify="left")
    for order_id, cents, reason in new:
        table.add_row(str(order_id), f"{cents / 100:.2f} EUR", reason)
    console.print(table)
    with closing(sqlite3.connect(database)) as connection:
        for recipient, subject, body in connection.execute("SELECT recipient, subject, body FROM outbox"):
            console.print(Text.assemble(("outbox: ", "bold"), f"to {recipient}\n", (f"  {subject}\n", "bold")), end="")
            console.print(Text("\n".join(f"  {line}" for line in body.splitlines())))


if __name__ == "__main__":
    sys.exit(demo(*sys.argv[1:2]))
