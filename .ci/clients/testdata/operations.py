# Written by "make clients" from docs/openapi.json. Do not edit: change the API, or .ci/clients.
"""A method for each operation of Earshot's HTTP API."""

from __future__ import annotations

from typing import Any, AsyncIterator, Dict, List, Literal, Optional, Union, cast

from .._generated import *
from ._transport import ServerEvent, Transport, joined, quoted


class Operations:
    """One method for each operation of the API."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def delete_span(self, channel: str, id: str) -> None:
        """Delete a span: DELETE /v1/channels/{channel}/spans/{id}."""
        await self._transport.call("DELETE", f"/v1/channels/{quoted(channel)}/spans/{quoted(id)}", again=True)

    async def get_span(
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
        answer = await self._transport.call("GET", f"/v1/channels/{quoted(channel)}/spans/{quoted(id)}", query={"from": from_, "state": joined(state), "workspace": workspace}, headers={"If-None-Match": if_none_match}, again=True)
        return cast("Span", answer)

    async def record_events(self, body: RecordEventsBody) -> Names:
        """Tell what was said: POST /v1/events."""
        answer = await self._transport.call("POST", "/v1/events", body=body, again=True)
        return cast("Names", answer)

    def live(self) -> AsyncIterator[ServerEvent]:
        """What happens: GET /v1/live."""
        return self._transport.stream("GET", "/v1/live", again=True)

    async def make_span(self, body: Optional[Span] = None) -> Span:
        """Make a span: POST /v1/spans."""
        answer = await self._transport.call("POST", "/v1/spans", body=body)
        return cast("Span", answer)
