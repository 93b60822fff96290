"""Runs that must not solve the tasks: no calls at all, and the same calls with wrong arguments and a wrong answer.

Knows the suites' tool names only. `run` prints how many tasks pass anyway, which is what a utility is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

NO_CALL_SCRIPT: Final = 'return ""'
WRONG_ANSWER: Final = "I do not know."

_TIME: Final = "%Y-%m-%d %H:%M"


def _next_day(text: str) -> str:
    return (datetime.strptime(text, _TIME) + timedelta(days=1)).strftime(_TIME)


def _more(amount: float) -> float:
    return amount + 1.0


_WRONG: Final[Mapping[str, Mapping[str, Callable[[Any], Any]]]] = MappingProxyType(
    {
        "add_calendar_event_participants": {"participants": lambda _: ["nobody@example.com"]},
        "append_to_file": {"file_id": lambda _: "18"},
        "create_calendar_event": {"start_time": _next_day, "end_time": _next_day},
        "create_file": {"filename": lambda name: f"copy-of-{name}"},
        "delete_file": {"file_id": lambda _: "18"},
        "reschedule_calendar_event": {"new_start_time": _next_day, "new_end_time": _next_day},
        "schedule_transaction": {"amount": _more},
        "send_email": {"subject": lambda _: "Hello", "body": lambda _: "Hello"},
        "send_money": {"amount": _more},
        "share_file": {"permission": lambda _: "rw"},
        "update_password": {"password": lambda text: text[::-1]},
        "update_scheduled_transaction": {"amount": _more},
        "update_user_info": {"street": lambda text: f"{text} B"},
    }
)
"""One wrong value for each tool that changes something; `18` is the file of the monthly expenses, which no task needs."""


def spoil(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The same arguments, with wrong ones where the call changes something."""
    wrong = _WRONG.get(name, {})
    return arguments | {
        key: wrong[key](value) for key, value in arguments.items() if key in wrong and value is not None
    }
