# Written by "make clients" from docs/openapi.json. Do not edit: change the API, or .ci/clients.
"""What Earshot's HTTP API takes and answers.

The types are dictionaries, as JSON has them; a type checker knows their keys.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union


class _Event(TypedDict):
    type: Literal["message", "edit"]


class Event(_Event, total=False):
    """Something that has happened."""

    by: Literal[1, -1]
    more: List[Event]


Names = Optional[List[Optional[str]]]


class RecordEventsBody(TypedDict):
    events: List[Event]


_Span = TypedDict(
    "_Span",
    {
        # a time
        "from": "str",
        "inner": "SpanInner",
    },
)


_SpanMore = TypedDict(
    "_SpanMore",
    {
        "anything": "Any",
        "parts": "Dict[str, float]",
        "policy": "Optional[Union[str, Dict[str, Any]]]",
        "to": "Optional[str]",
        "x-odd name": "bool",
    },
    total=False,
)


class Span(_Span, _SpanMore):
    """Span"""


class SpanInner(TypedDict):
    score: float
