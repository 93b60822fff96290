"""`URL` and `URLSearchParams` as the URL Standard has them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.enclave.engines.prelude import evaluated, log

PARTS = "href origin protocol username password host hostname port pathname search hash".split()


def parts(url: str, base: str | None = None) -> dict[str, str]:
    """What is not empty of a URL's parts."""
    given = json.dumps(url) if base is None else f"{json.dumps(url)}, {json.dumps(base)}"
    found = evaluated(f"((url) => {json.dumps(PARTS)}.map((part) => url[part]))(new URL({given}))")
    return {name: text for name, text in zip(PARTS, found, strict=True) if text != ""}


def test_a_url_has_its_parts() -> None:
    assert parts("HTTPS://user:pa ss@Example.COM:8443/a/../b/./c d?x=1&y=é#h 1") == {
        "href": "https://user:pa%20ss@example.com:8443/b/c%20d?x=1&y=%C3%A9#h%201",
        "origin": "https://example.com:8443",
        "protocol": "https:",
        "username": "user",
        "password": "pa%20ss",
        "host": "example.com:8443",
        "hostname": "example.com",
        "port": "8443",
        "pathname": "/b/c%20d",
        "search": "?x=1&y=%C3%A9",
        "hash": "#h%201",
    }
    assert parts("mailto:ann@example.com?subject=x") == {
        "href": "mailto:ann@example.com?subject=x",
        "origin": "null",
        "protocol": "mailto:",
        "pathname": "ann@example.com",
        "search": "?subject=x",
    }


@pytest.mark.parametrize(
    ("url", "base", "href"),
    [
        ("http://x.com", None, "http://x.com/"),
        ("http:\\\\foo\\bar", None, "http://foo/bar"),
        ("http:///x", None, "http://x/"),
        ("https:example.org", None, "https://example.org/"),
        ("https://h:443/", None, "https://h/"),
        (" ht\ntp://x/\ty ", None, "http://x/y"),
        ("http://0x7f.1", None, "http://127.0.0.1/"),
        ("http://017700000001", None, "http://127.0.0.1/"),
        ("http://1.2.3.4.", None, "http://1.2.3.4/"),
        ("http://[1:0:0:2:0:0:0:3]", None, "http://[1:0:0:2::3]/"),
        ("http://[::ffff:1.2.3.4]:80", None, "http://[::ffff:102:304]/"),
        ("http://a%41b/", None, "http://aab/"),
        ("http://x/%zz%20", None, "http://x/%zz%20"),
        ("http://x/a'b?a'b", None, "http://x/a'b?a%27b"),
        ("http://x/%2e%2E/%2e/y", None, "http://x/y"),
        ("http://x/?#", None, "http://x/?#"),
        ("http://:p@a", None, "http://:p@a/"),
        ("foo://Bar/b?x#y", None, "foo://Bar/b?x#y"),
        ("foo:/.//x", None, "foo:/.//x"),
        ("data:text/plain,hi there#x", None, "data:text/plain,hi there#x"),
        ("g", "http://h/d/e?q#f", "http://h/d/g"),
        ("../g?z", "http://h/a/b/c", "http://h/a/g?z"),
        ("/g", "http://h/a/b", "http://h/g"),
        ("//g/x", "https://h/a", "https://g/x"),
        ("?z", "http://h/a?q#f", "http://h/a?z"),
        ("#z", "http://h/a?q#f", "http://h/a?q#z"),
        ("", "http://h/a?q#f", "http://h/a?q"),
        ("http:g", "http://h/a/b", "http://h/a/g"),
        ("https:g", "http://h/a/b", "https://g/"),
        ("\\g", "http://h/a/b", "http://h/g"),
        ("#z", "mailto:a@b", "mailto:a@b#z"),
    ],
)
def test_urls_are_read_as_the_standard_says(url: str, base: str | None, href: str) -> None:
    assert parts(url, base)["href"] == href


@pytest.mark.parametrize(
    "arguments",
    [
        "''", "'x'", "'/path'", "'http://'", "'http://:80'", "'http://u@'", "'http://a b'", "'http://a%20b'", "'http://a<b'",
        "'http://256.1.1.1'", "'http://1.2.3.4.5'", "'http://09'", "'http://[1::2::3]'", "'http://[1'", "'http://[::g]'",
        "'http://a:99999'", "'http://a:80x'", "'?q', 'mailto:a@b'", "'', 'mailto:a@b'", "'x', 'y'", "undefined",
    ],
)  # fmt: skip
def test_what_is_no_url_is_refused(arguments: str) -> None:
    assert evaluated(f"new URL({arguments})") == "TypeError: Invalid URL"
    assert evaluated(f"[URL.canParse({arguments}), URL.parse({arguments})]") == [False, None]


def test_refusals_that_are_ours_say_so() -> None:
    assert evaluated("new URL('http://bücher.example')") == (
        'TypeError: Invalid URL: a host that is not ASCII is not available here; write its "xn--" form'
    )
    assert evaluated("new URL('file:///etc/passwd')") == (
        "TypeError: Invalid URL: the scheme file is not available here"
    )
    refused = "(() => { try { new URL('bad') } catch ({ code, input }) { return [code, input] } })()"
    assert evaluated(refused) == ["ERR_INVALID_URL", "bad"]


@pytest.mark.parametrize(
    ("change", "href"),
    [
        ("protocol = 'https'", "https://u:p@h.com:8080/d?q=1#f"),
        ("protocol = 'foo'", "http://u:p@h.com:8080/d?q=1#f"),
        ("username = 'é:'", "http://%C3%A9%3A:p@h.com:8080/d?q=1#f"),
        ("password = ''", "http://u@h.com:8080/d?q=1#f"),
        ("host = 'n.com:81/x'", "http://u:p@n.com:81/d?q=1#f"),
        ("host = ''", "http://u:p@h.com:8080/d?q=1#f"),
        ("hostname = 'n.com'", "http://u:p@n.com:8080/d?q=1#f"),
        ("hostname = 'n.com:1'", "http://u:p@h.com:8080/d?q=1#f"),
        ("hostname = 'a b'", "http://u:p@h.com:8080/d?q=1#f"),
        ("port = 80", "http://u:p@h.com/d?q=1#f"),
        ("port = '81x'", "http://u:p@h.com:81/d?q=1#f"),
        ("port = 'x'", "http://u:p@h.com:8080/d?q=1#f"),
        ("port = ''", "http://u:p@h.com/d?q=1#f"),
        ("port = 99999", "http://u:p@h.com:8080/d?q=1#f"),
        ("pathname = '/a/../b c?'", "http://u:p@h.com:8080/b%20c%3F?q=1#f"),
        ("search = 'x=a b'", "http://u:p@h.com:8080/d?x=a%20b#f"),
        ("search = ''", "http://u:p@h.com:8080/d#f"),
        ("hash = '#a b'", "http://u:p@h.com:8080/d?q=1#a%20b"),
        ("hash = ''", "http://u:p@h.com:8080/d?q=1"),
        ("href = 'http://z'", "http://z/"),
        ("searchParams.append('r', 'a b&')", "http://u:p@h.com:8080/d?q=1&r=a+b%26#f"),
        ("searchParams.delete('q')", "http://u:p@h.com:8080/d#f"),
    ],
)
def test_parts_can_be_changed(change: str, href: str) -> None:
    source = f"((url) => {{ url.searchParams; url.{change}; return url }})(new URL('http://u:p@h.com:8080/d?q=1#f'))"
    assert evaluated(source) == href
    assert evaluated(f"({source}).searchParams.get('q')") == ("1" if "?q=1" in href else None)


def test_a_url_that_cannot_be_assigned_raises_and_changes_nothing() -> None:
    source = "((url) => { try { url.href = 'bad' } catch (error) { return [error.message, url.href] } })(new URL('http://a'))"
    assert evaluated(source) == ["Invalid URL", "http://a/"]


@pytest.mark.parametrize(
    ("init", "text"),
    [
        ("'?a=1&b=2&a=3'", "a=1&b=2&a=3"),
        ("'a=é+b%20c&&d&=e'", "a=%C3%A9+b+c&d=&=e"),
        ("'a==b%3D&%zz=%4'", "a=%3Db%3D&%25zz=%254"),
        ('"!\'()*-._~"', "%21%27%28%29*-._%7E="),
        ("{ x: 1, y: null, z: [1, 2] }", "x=1&y=null&z=1%2C2"),
        ("[['a', '1'], new Set(['b', '2'])]", "a=1&b=2"),
        ("new Map([['m', 'n']])", "m=n"),
        ("new URLSearchParams('q=1')", "q=1"),
        ("'\\ud800'", "%EF%BF%BD="),
        ("undefined", ""),
        ("null", ""),
        ("[['a']]", "TypeError: URLSearchParams: each pair has a name and a value"),
    ],
)
def test_parameters_are_read_and_written(init: str, text: str) -> None:
    assert evaluated(f"new URLSearchParams({init}).toString()") == text


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("[p.get('a'), p.get('x'), p.getAll('a'), p.has('a'), p.has('a', '3'), p.has('a', '4'), p.size]",
         ["1", None, ["1", "3"], True, True, False, 3]),
        ("[[...p], [...p.keys()], [...p.values()], [...p.entries()].length]",
         [[["a", "1"], ["b", "2"], ["a", "3"]], ["a", "b", "a"], ["1", "2", "3"], 3]),
        ("(p.set('a', '9'), p.set('c', 'new'), p.toString())", "a=9&b=2&c=new"),
        ("(p.append('a', 5), p.delete('a', '1'), p.toString())", "b=2&a=3&a=5"),
        ("(p.delete('a'), String(p))", "b=2"),
        ("(p.sort(), String(p))", "a=1&a=3&b=2"),
        ("((seen) => (p.forEach((value, name) => seen.push(name + value)), seen))([])", ["a1", "b2", "a3"]),
        ("Object.fromEntries(p)", {"a": "3", "b": "2"}),
        ("Object.prototype.toString.call(p)", "[object URLSearchParams]"),
    ],
)  # fmt: skip
def test_parameters_are_a_list_of_pairs(source: str, value: Any) -> None:
    assert evaluated(f"((p) => {source})(new URLSearchParams('a=1&b=2&a=3'))") == value


def test_urls_are_shown_as_in_node() -> None:
    assert log("", "new URL('http://u@h:81/p?a=1#f')") == (
        "URL {\n  href: 'http://u@h:81/p?a=1#f',\n  origin: 'http://h:81',\n  protocol: 'http:',\n  username: 'u',\n"
        "  password: '',\n  host: 'h:81',\n  hostname: 'h',\n  port: '81',\n  pathname: '/p',\n  search: '?a=1',\n"
        "  searchParams: URLSearchParams { 'a' => '1' },\n  hash: '#f'\n}"
    )
    assert log("", "new URLSearchParams(), Object.create(URL.prototype)") == "URLSearchParams {} URL {}"
    assert evaluated("[JSON.stringify({ u: new URL('http://a') }), `${new URL('http://a')}`]") == [
        '{"u":"http://a/"}', "http://a/",
    ]  # fmt: skip
