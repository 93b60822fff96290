# First seed, "Tool schemas" and "Required capabilities": two methods are a schema, whatever library they come from.
from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Literal

import ringfence as rf


@dataclass(frozen=True)
class Lookup:
    order_id: float


class LookupSchema:
    """Validates what comes in, and publishes the same."""

    version = 1
    vendor = "your-schema-library"

    def validate(self, value: Any, /) -> rf.Valid[Lookup] | rf.Invalid:
        match value:
            case {"orderId": int() | float() as order_id, **others} if not isinstance(order_id, bool) and not others:
                return {"value": Lookup(order_id)}
            case _:
                return {"issues": [{"message": "give a numeric orderId, and nothing else", "path": ["orderId"]}]}

    def json_schema(self, target: str, /, *, mode: Literal["input", "output"]) -> dict[str, Any]:
        if target != "draft-07":
            raise NotImplementedError(target)
        name = "orderId" if mode == "input" else "order_id"
        return {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {name: {"type": "number"}},
            "required": [name],
            "additionalProperties": False,
        }


# the type of `lookup` is inferred from the schema
lookup_order = rf.Tool("lookup_order", "Look up an order.", LookupSchema(), lambda lookup: f"order {lookup.order_id:g}")


async def main() -> None:
    print(json.dumps(lookup_order.input.json_schema("draft-07"), indent=2))
    async with rf.Boundary(tools=[lookup_order], sandbox=rf.local(unsafe=True)) as boundary:
        for args in ({"orderId": 7}, {"orderId": "7"}, {"orderId": 7, "more": 1}):
            outcome = await boundary.call("lookup_order", args)
            print(outcome.status, outcome.value or (outcome.error and outcome.error.issues[0]["path"]))


asyncio.run(main())

# prints:
# {
#   "$schema": "http://json-schema.org/draft-07/schema#",
#   "type": "object",
#   "properties": {
#     "orderId": {
#       "type": "number"
#     }
#   },
#   "required": [
#     "orderId"
#   ],
#   "additionalProperties": false
# }
# succeeded order 7
# refused orderId
# refused orderId
