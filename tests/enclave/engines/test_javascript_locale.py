"""Numbers, dates and the order of texts in the one locale that scripts have, and that others are refused."""

from __future__ import annotations

import json

import pytest

from tests.enclave.engines.prelude import evaluated


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("(1234.5).toLocaleString()", "1,234.5"),
        ("(1234567.891).toLocaleString('en-US')", "1,234,567.891"),
        ("(0.1 + 0.2).toLocaleString()", "0.3"),
        ("(-0).toLocaleString()", "-0"),
        ("NaN.toLocaleString()", "NaN"),
        ("(-Infinity).toLocaleString()", "-∞"),
        ("(1e21).toLocaleString()", "1,000,000,000,000,000,000,000"),
        ("(1.5e-7).toLocaleString(undefined, { maximumFractionDigits: 20 })", "0.00000015"),
        ("(12345678901234567890n).toLocaleString()", "12,345,678,901,234,567,890"),
        ("(1.005).toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 })", "1.01"),
        ("(999.9996).toLocaleString()", "1,000"),
        ("(5).toLocaleString('en', { minimumFractionDigits: 2 })", "5.00"),
        ("(0.5).toLocaleString([], { maximumFractionDigits: 0 })", "1"),
        ("(1234.5).toLocaleString('en-US', { style: 'currency', currency: 'USD' })", "$1,234.50"),
        ("(-1234.5).toLocaleString('en-US', { style: 'currency', currency: 'eur' })", "-€1,234.50"),
        ("(1234.5).toLocaleString('en-US', { style: 'currency', currency: 'GBP', maximumFractionDigits: 0 })", "£1,235"),
        ("(1234.5).toLocaleString('en-US', { style: 'currency', currency: 'JPY' })", "¥1,235"),
        ("(5).toLocaleString('en-US', { style: 'currency', currency: 'CHF' })", "CHF\xa05.00"),
        ("(-5).toLocaleString('en-US', { style: 'currency', currency: 'USD', currencySign: 'accounting' })", "($5.00)"),
        ("(0.256).toLocaleString('en-US', { style: 'percent' })", "26%"),
        ("(0.256).toLocaleString('en-US', { style: 'percent', minimumFractionDigits: 1 })", "25.6%"),
        ("(1234.5).toLocaleString('en-US', { useGrouping: false })", "1234.5"),
        ("(7).toLocaleString('en-US', { minimumIntegerDigits: 2 })", "07"),
        ("(123456).toLocaleString('en-US', { maximumSignificantDigits: 3 })", "123,000"),
        ("[1234, 12345, 999999, 1.5e9, 950].map((n) => n.toLocaleString('en', { notation: 'compact' })).join()", "1.2K,12K,1M,1.5B,950"),
        ("(1234567).toLocaleString('en', { notation: 'compact', compactDisplay: 'long' })", "1.2 million"),
        ("(5).toLocaleString('en', { signDisplay: 'always' })", "+5"),
        ("[1234.5, 'a', new Date(0)].toLocaleString()", "1,234.5,a,1/1/1970, 12:00:00 AM"),
    ],
)  # fmt: skip
def test_numbers_read_as_in_english(source: str, text: str) -> None:
    assert evaluated(source) == text


REFUSED = """RangeError: dates: the locale 'en-CA' is not available here; there is "en-US\""""
DAY = "new Date(Date.UTC(2024, 0, 5, 15, 4, 7, 89))"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("toLocaleString()", "1/5/2024, 3:04:07 PM"),
        ("toLocaleDateString()", "1/5/2024"),
        ("toLocaleTimeString('en-US')", "3:04:07 PM"),
        ("toLocaleDateString('en-US', { year: 'numeric', month: 'long', day: 'numeric' })", "January 5, 2024"),
        ("toLocaleDateString('en-US', { weekday: 'long', year: 'numeric', month: 'short', day: '2-digit' })", "Friday, Jan 05, 2024"),
        ("toLocaleDateString('en-US', { month: 'short', day: 'numeric' })", "Jan 5"),
        ("toLocaleDateString('en-US', { month: 'long', year: 'numeric' })", "January 2024"),
        ("toLocaleDateString('en-US', { month: '2-digit', day: '2-digit', year: 'numeric' })", "01/05/2024"),
        ("toLocaleDateString('en-US', { weekday: 'short' })", "Fri"),
        ("toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' })", "Jan 5, 2024"),
        ("toLocaleTimeString('en-US', { hour: '2-digit', minute: '2-digit' })", "03:04 PM"),
        ("toLocaleTimeString('en-US', { hour: 'numeric', minute: '2-digit', hour12: false })", "15:04"),
        ("toLocaleTimeString([], { timeStyle: 'short' })", "3:04 PM"),
        ("toLocaleTimeString([], { timeZoneName: 'short' })", "3:04:07 PM UTC"),
        ("toLocaleString('en-US', { dateStyle: 'long', timeStyle: 'short' })", "January 5, 2024 at 3:04 PM"),
        ("toLocaleString('en-US', { month: 'short', day: 'numeric', hour: 'numeric' })", "Jan 5, 3 PM"),
        ("toLocaleString('en-US', { weekday: 'long', hour: 'numeric', hourCycle: 'h23' })", "Friday 15"),
        ("toLocaleString('en-US', { hour: 'numeric', minute: 'numeric', second: 'numeric', fractionalSecondDigits: 3 })", "3:04:07.089 PM"),
    ],
)  # fmt: skip
def test_dates_read_as_in_english(call: str, text: str) -> None:
    assert evaluated(f"{DAY}.{call}") == text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("'en-CA'", "2024-01-05"),
        ("'sv-SE', { timeZone: 'UTC' }", "2024-01-05"),
        ("['en-CA'], { year: 'numeric', month: '2-digit', day: '2-digit' }", "2024-01-05"),
        ("'en-CA', { month: 'long' }", REFUSED),
        ("'en-CA', { year: 'numeric', month: '2-digit' }", REFUSED),
        ("'en-CA', { year: '2-digit', month: '2-digit', day: '2-digit' }", REFUSED),
        ("'en-CA', { timeZone: 'Europe/Paris' }", REFUSED),
    ],
)
def test_two_more_locales_give_the_date_that_scripts_want_of_them(arguments: str, text: str) -> None:
    assert evaluated(f"{DAY}.toLocaleDateString({arguments})") == text
    assert evaluated("new Date(NaN).toLocaleDateString('sv-SE')") == "Invalid Date"


def test_midnight_and_dates_that_are_none() -> None:
    midnight = "new Date(Date.UTC(2024, 11, 25))"
    assert evaluated(f"{midnight}.toLocaleTimeString()") == "12:00:00 AM"
    assert evaluated(f"{midnight}.toLocaleTimeString('en', {{ hour12: false }})") == "24:00:00"
    assert evaluated(f"{midnight}.toLocaleTimeString('en', {{ hourCycle: 'h23' }})") == "00:00:00"
    assert evaluated("new Date(NaN).toLocaleDateString()") == "Invalid Date"
    assert evaluated("Date.prototype.toLocaleDateString.call({})").startswith("TypeError: ")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("(1).toLocaleString('de-DE')", """RangeError: toLocaleString: the locale 'de-DE' is not available here; there is "en-US\""""),
        ("new Date().toLocaleDateString(['fr'])", """RangeError: dates: the locale 'fr' is not available here; there is "en-US\""""),
        ("'a'.localeCompare('b', 'sv')", """RangeError: localeCompare: the locale 'sv' is not available here; there is "en-US\""""),
        ("new Date().toLocaleString('en-US', { timeZone: 'America/New_York' })", """RangeError: timeZone: 'America/New_York' is not available here; there is "UTC\""""),
        ("(1).toLocaleString('en', { style: 'unit', unit: 'liter' })", "RangeError: style: 'unit' is not available here; there is decimal, percent, currency"),
        ("(1).toLocaleString('en', { roundingMode: 'floor' })", "RangeError: the option roundingMode is not available here"),
        ("new Date().toLocaleString('en', { era: 'short' })", "RangeError: the option era is not available here"),
        ("(1).toLocaleString('en', { style: 'currency' })", "TypeError: Currency code is required with currency style."),
        ("(1).toLocaleString('en', { style: 'currency', currency: 'dollars' })", "RangeError: Invalid currency code : DOLLARS"),
        ("(1).toLocaleString('en', { maximumFractionDigits: 101 })", "RangeError: maximumFractionDigits value is out of range."),
        ("(1).toLocaleString('en', { minimumFractionDigits: 3, maximumFractionDigits: 2 })", "RangeError: maximumFractionDigits value is out of range."),
        ("new Date().toLocaleDateString('en', { timeStyle: 'short' })", "TypeError: timeStyle: toLocaleDateString gives a date only"),
        ("(1).toLocaleString(5)", 'TypeError: toLocaleString: a locale is text, such as "en-US"'),
    ],
)  # fmt: skip
def test_what_the_one_locale_has_not_is_refused(source: str, message: str) -> None:
    assert evaluated(source) == message


@pytest.mark.parametrize(
    ("before", "after", "options"),
    [
        ("adam", "Zoe", ""), ("a", "A", ""), ("A", "b", ""), ("resume", "résumé", ""), ("résumé", "Résumé", ""),
        ("résumé", "resumes", ""), ("item 10", "item 2", ""), ("item 2", "item 10", ", undefined, { numeric: true }"),
        ("v1.9", "v1.10", ", 'en', { numeric: true }"), ("a b", "ab", ""), ("_x", "1", ""), ("10", "9", ""), ("9", "a", ""),
        ("z", "я", ""), ("ñ", "o", ""), ("n", "ñ", ""), ("œ", "of", ""), ("", "a", ""), ("a-b", "ab", ""), ("€", "1", ""),
        ("file9é", "file10e", ", undefined, { numeric: true }"),
    ],
)  # fmt: skip
def test_texts_are_ordered_as_in_a_dictionary(before: str, after: str, options: str) -> None:
    one, other = json.dumps(before), json.dumps(after)
    assert evaluated(f"[{one}.localeCompare({other}{options}), {other}.localeCompare({one}{options})]") == [-1, 1]


@pytest.mark.parametrize(
    ("sensitivity", "orders"),
    [("base", [0, 0]), ("accent", [0, -1]), ("case", [-1, 0]), ("variant", [-1, -1])],
)
def test_what_counts_as_equal_can_be_chosen(sensitivity: str, orders: list[int]) -> None:
    options = f"undefined, {{ sensitivity: '{sensitivity}' }}"
    assert evaluated(f"['a'.localeCompare('A', {options}), 'a'.localeCompare('á', {options})]") == orders
