# Written by "make clients" from docs/openapi.json. Do not edit: change the API, or .ci/clients.
"""What Earshot's HTTP API takes and answers, and a method for each operation.

The types are dictionaries, as JSON has them; a type checker knows their keys.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Literal, Optional, TypedDict, Union, cast

from ._transport import ServerEvent, Transport, joined, quoted


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


class Operations:
    """One method for each operation of the API."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def delete_span(self, channel: str, id: str) -> None:
        """Delete a span: DELETE /v1/channels/{channel}/spans/{id}."""
        self._transport.call("DELETE", f"/v1/channels/{quoted(channel)}/spans/{quoted(id)}", again=True)

    def get_span(
        self,
        channel: str,
        id: str,
        *,
        if_none_match: Optional[str] = None,
        from_: int,
        state: Optional[List[Literal["open", "done"]]] = None,
        workspace: Optional[str] = None,
    ) -> Span:
        """One span: GET /v1/channels/{channel}/spans/{id}.

        workspace: the workspace's id, where several have a channel with this id, and a long
            text that has to be broken
        """
        answer = self._transport.call("GET", f"/v1/channels/{quoted(channel)}/spans/{quoted(id)}", query={"from": from_, "state": joined(state), "workspace": workspace}, headers={"If-None-Match": if_none_match}, again=True)
        return cast("Span", answer)

    def record_events(self, body: RecordEventsBody) -> Names:
        """Tell what was said: POST /v1/events."""
        answer = self._transport.call("POST", "/v1/events", body=body, again=True)
        return cast("Names", answer)

    def live(self) -> Iterator[ServerEvent]:
        """What happens: GET /v1/live."""
        return self._transport.stream("GET", "/v1/live", again=True)

    def make_span(self, body: Optional[Span] = None) -> Span:
        """Make a span: POST /v1/spans."""
        answer = self._transport.call("POST", "/v1/spans", body=body)
        return cast("Span", answer)
