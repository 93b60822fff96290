"""The value table's other half in print: what becomes of the values that a JavaScript script sends.

What such a script gets is a column of `table.ROWS`; what it may send are sorts of value of its own. The prelude
(`engines/prelude/values.js`) does what these rows say, and their examples are tried against it. `scripts.write_docs`
makes a part of docs/values.md of them. Data only. Pure.
"""

from __future__ import annotations

from typing import Final

from ringfence.enclave.table import Row

SENT: Final = (
    Row(
        value="`null`; `undefined` as a whole or as an item",
        wire="`null`",
        host="`None`",
        example="[null, undefined]",
        text="[null,null]",
    ),
    Row(value="`undefined` as a member of an object", wire="left out", host="–", example="({a: undefined})", text="{}"),
    Row(value="boolean", wire="`true`, `false`", host="`bool`", example="true", text="true"),
    Row(
        value="finite number",
        wire="number, in the digits that `String` gives it; `-0` is 0",
        host="`int` where these are digits only, else `float`",
        example="[-0, 0.1, 2 ** 60, 1e21]",
        text="[0,0.1,1152921504606847000,1e+21]",
    ),
    Row(
        value="`BigInt` of up to 4,300 digits",
        wire="number, all its digits",
        host="`int`, exact",
        example="2n ** 64n",
        text="18446744073709551616",
    ),
    Row(value="string of Unicode text", wire="string", host="`str`", example="'é'", text='"é"'),
    Row(
        value="Array, `Set`",
        wire="array; holes are `null`",
        host="`list`",
        example="[new Set([1]), [,]]",
        text="[[1],[null]]",
    ),
    Row(
        value="typed array other than `Uint8Array`",
        wire="array of numbers",
        host="`list`",
        example="new Int16Array([1, -2])",
        text="[1,-2]",
    ),
    Row(
        value="plain object",
        wire="object of its enumerable members whose keys are text; each is read once",
        host="`dict`",
        example="({get a() { return 1 }, [Symbol()]: 2})",
        text='{"a":1}',
    ),
    Row(
        value="instance of a class",
        wire="object of its own enumerable fields",
        host="`dict`",
        example="new (class { x = 1; #y = 2 })()",
        text='{"x":1}',
    ),
    Row(
        value="`Map` whose keys are text",
        wire="object",
        host="`dict`",
        example="new Map([['a', 1]])",
        text='{"a":1}',
    ),
    Row(
        value="object with a method `toJSON`",
        wire="what it returns, by these rules, and not asked again",
        host="as that",
        example="({toJSON: () => [1]})",
        text="[1]",
    ),
    Row(
        value="`Date` of the years 1 to 9999",
        wire="ISO 8601 text in UTC, with milliseconds, tagged",
        host="`datetime.datetime`",
        example="new Date(0)",
        text='"1970-01-01T00:00:00.000Z"',
    ),
    Row(
        value="`Uint8Array`, `ArrayBuffer`, `DataView`",
        wire="URL-safe Base64 text, tagged",
        host="`bytes`",
        example="new Uint8Array([255, 254])",
        text='"__4="',
    ),
    Row(
        value="`Error` of any class",
        wire="object of `name` and `message`",
        host="`dict`",
        example="new TypeError('no')",
        text='{"name":"TypeError","message":"no"}',
    ),
    Row(
        value="`Number`, `String`, `Boolean`, `BigInt` as objects",
        wire="what is inside",
        host="as that",
        example="Object(1n)",
        text="1",
    ),
)
"""What crosses."""

UNSENT: Final = (
    Row(value="`NaN`, infinities", wire="no JSON number says them", example="NaN"),
    Row(value="text with a lone surrogate", wire="it is not Unicode", example="'\\ud800'"),
    Row(
        value="a value that contains itself",
        wire="it has no end",
        example="(() => { const a = []; return a[0] = a })()",
    ),
    Row(value="functions, classes", wire="they are code; as members too, which are not left out", example="({f() {}})"),
    Row(value="symbols", wire="they are nothing outside their script", example="Symbol()"),
    Row(value="promises", wire="they are not there yet", example="Promise.resolve(1)"),
    Row(value="generators, iterators", wire="looking at them uses them up", example="[1].values()"),
    Row(
        value="`Map` with keys that are not text",
        wire="a key would change its type unseen; in a script's result, numbers, `BigInt`, booleans, `null` and dates become text",
        example="new Map([[1, 2]])",
    ),
    Row(
        value="invalid dates, and those of other years",
        wire="the host has no such date",
        example="new Date(NaN)",
    ),
    Row(value="`RegExp`, `WeakMap`, `WeakSet`", wire="they have nothing to write", example="/a/"),
    Row(
        value="instances without fields of their own, and without `toJSON`",
        wire="what they hold is private, and `{}` would lose it unseen",
        example="new (class { #a = 1 })()",
    ),
)
"""What does not, and why."""
