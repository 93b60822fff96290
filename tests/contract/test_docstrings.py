"""Docstrings in three styles, and prose that is none of them."""

from __future__ import annotations

import logging

import griffe
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.contract.docstrings import DocTexts, read_docstring

NAMES = ("order_id", "deep")

GOOGLE = """Look up an order.

    Finds it by number.

    Note:
        Amounts are cents.

    Args:
        order_id (int): The number
            of the order.
        deep: Whether: to look closely.
        unknown: Not a parameter.

    Returns:
        The order with its lines.

    Raises:
        KeyError: There is none.
    """

NUMPY = """Look up an order.

    Finds it by number.

    Parameters
    ----------
    order_id : int
        The number
        of the order.
    deep : bool
        Whether: to look closely.

    Returns
    -------
    Order
        The order with its lines.
    """

SPHINX = """Look up an order.

    Finds it by number.

    :param order_id: The number
        of the order.
    :param bool deep: Whether: to look closely.
    :returns: The order with its lines.
    :raises KeyError: There is none.
    """

PARAMETERS = {"order_id": "The number of the order.", "deep": "Whether: to look closely."}


@pytest.mark.parametrize("text", [NUMPY, SPHINX])
def test_a_docstring_is_read_in_its_own_style(text: str) -> None:
    assert read_docstring(text, NAMES) == DocTexts(
        description="Look up an order.\n\nFinds it by number.",
        parameters=PARAMETERS,
        returns="The order with its lines.",
    )


def test_a_note_stays_in_the_description() -> None:
    assert read_docstring(GOOGLE, NAMES) == DocTexts(
        description="Look up an order.\n\nFinds it by number.\n\nNote: Amounts are cents.",
        parameters=PARAMETERS,
        returns="The order with its lines.",
    )


@pytest.mark.parametrize("text", [None, "", "  \n  "])
def test_no_docstring_says_nothing(text: str | None) -> None:
    assert read_docstring(text, NAMES) == DocTexts()


@pytest.mark.parametrize(
    "text",
    [
        "One line.",
        "Two lines\nwithout sections.",
        "Args: none of note\n  order_id - blah\n\nParameters:\n----\n:param",
        "Prose with a list:\n\n- one\n- two: three",
    ],
)
def test_prose_without_sections_is_the_description_as_it_stands(text: str) -> None:
    assert read_docstring(text, NAMES) == DocTexts(description=text)


def test_the_style_that_explains_more_parameters_wins() -> None:
    mixed = "Do it.\n\n:param order_id: by Sphinx\n:param deep: too\n\nArgs:\n    order_id: by Google\n"
    assert read_docstring(mixed, NAMES).parameters["order_id"] == "by Sphinx"


def test_a_docstring_of_parameters_only_has_no_description() -> None:
    assert read_docstring(":param order_id: one", NAMES) == DocTexts(parameters={"order_id": "one"})


@pytest.mark.slow
@given(
    st.lists(
        st.sampled_from(
            [
                "Args:",
                "Returns:",
                "    order_id: x",
                "order_id : int",
                "----",
                ":param order_id: x",
                ":returns:",
                "",
                "é\x00",
                ">>> 1",
            ]
        ),
        max_size=12,
    ).map("\n".join)
)
def test_no_text_fails_prints_or_logs(text: str) -> None:
    records: list[logging.LogRecord] = []
    listener = logging.Handler()
    listener.emit = records.append  # type: ignore[method-assign]
    logging.getLogger().addHandler(listener)
    try:
        read_docstring(text, NAMES)
    finally:
        logging.getLogger().removeHandler(listener)
    assert records == []


def test_a_parser_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(docstring: object, **options: object) -> list[object]:
        raise ValueError(docstring)

    monkeypatch.setattr(griffe, "parse_google", stumble)
    assert read_docstring(NUMPY, NAMES).parameters == PARAMETERS
    assert read_docstring(GOOGLE, NAMES).parameters == {}


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    read_docstring(GOOGLE + "\nArgs:\n  broken\n :param x\n", NAMES)
    assert capsys.readouterr() == ("", "")
