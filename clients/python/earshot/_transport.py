# Written by "make clients" from aio/_transport.py. Do not edit: change that.
"""Calls over HTTP."""

from __future__ import annotations

import copy
import random
from typing import Any, Iterator, Callable, Optional, Union

from ._errors import EarshotError, RateLimited, Unreachable
from ._http import Events, Query, ServerEvent, address, answer, joined, message, quoted, target
from ._world import Connections, Response, outcome, sleep

__all__ = ["ServerEvent", "Transport", "joined", "quoted"]


class Transport:
    """Makes calls with a key.

    A call is repeated, at most retries times, when that is safe: when it was never sent,
    when the sidecar said to wait (429), and, for calls that do the same when they are done
    twice, when no answer came or the sidecar was unavailable. Redirects are not followed and
    no proxy is used, so the key goes to url and nowhere else. Connections are kept and used
    again.
    """

    longest_wait = 60.0  # seconds; who is told to wait longer gets RateLimited at once

    def __init__(
        self,
        url: str,
        key: Union[str, Callable[[], Any]],
        *,
        timeout: float = 30.0,
        retries: int = 3,
        sleep: Callable[[float], Any] = sleep,
    ) -> None:
        at = address(url)
        self.url = url.rstrip("/")
        self.timeout = timeout
        self.retries = retries
        self._path = at.path
        self._connections = Connections(at, timeout)
        self._key = key
        self._sleep = sleep

    def with_key(self, key: str) -> Transport:
        """The same transport with another key, such as a capability."""
        other = copy.copy(self)
        other._key = key
        return other

    def __repr__(self) -> str:
        return f"Transport({self.url!r})"

    def close(self) -> None:
        """Closes the connections that nobody uses."""
        self._connections.close()

    def pause(self, wait: float) -> None:
        """Waits, in seconds."""
        outcome(self._sleep(wait))

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Query] = None,
        headers: Optional[Query] = None,
        body: Any = None,
        again: bool = False,
    ) -> Any:
        """Makes a call and returns the JSON of its answer, the bytes of a file, None if it has none.

        again says that the call may be repeated when nobody knows whether it was done.
        """
        tries = 0
        while True:
            try:
                response = self._send(method, path, query, headers, body)
                try:
                    return answer(response.status, response.headers, response.read())
                finally:
                    response.close()
            except EarshotError as error:
                wait = self._wait(error, again, tries)
                if wait is None:
                    raise
            tries += 1
            self.pause(wait)

    def stream(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Query] = None,
        headers: Optional[Query] = None,
        again: bool = False,
    ) -> Iterator[ServerEvent]:
        """Yields server-sent events until the sidecar ends the stream or is silent for timeout."""
        del again  # a stream is not begun anew: events would be missing or come twice
        response = self._send(method, path, query, dict(headers or {}, Accept="text/event-stream"), None)
        try:
            if response.status >= 300:
                answer(response.status, response.headers, response.read())
            events = Events()
            for line in response.lines():
                event = events.read(line)
                if event is not None:
                    yield event
        finally:
            response.close()

    def _send(
        self, method: str, path: str, query: Optional[Query], headers: Optional[Query], body: Any
    ) -> Response:
        key = outcome(self._key()) if callable(self._key) else self._key
        send, content = message(key, headers, body)
        return self._connections.send(method, target(self._path + path, query), send, content)

    def _wait(self, error: EarshotError, again: bool, tries: int) -> Optional[float]:
        """How long to wait before a call is repeated, None if it is not."""
        if tries >= self.retries:
            return None
        backoff = 0.1 * 2**tries * (1 + random.random())
        if isinstance(error, RateLimited):
            wait = max(error.retry_after, backoff)
            return wait if wait <= self.longest_wait else None
        if isinstance(error, Unreachable):
            return backoff if again or not error.sent else None
        return backoff if again and error.status in (502, 503, 504) else None
