"""Calls over HTTP, with the standard library."""

from __future__ import annotations

import copy
import http.client
import json
import random
import ssl
import time
import urllib.parse
from typing import Any, Callable, Dict, Iterator, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from ._errors import EarshotError, RateLimited, Unreachable, refusal

Query = Mapping[str, Any]


class ServerEvent(NamedTuple):
    """A server-sent event: its name, its data (JSON where it is JSON) and its id."""

    name: str
    data: Any
    id: str


def quoted(part: str) -> str:
    """A part of a path, such as an id with slashes."""
    return urllib.parse.quote(str(part), safe="")


def joined(values: Optional[Sequence[str]]) -> Optional[str]:
    """A list as one parameter."""
    return None if values is None else ",".join(values)


class Transport:
    """Makes calls with a key.

    A call is repeated, at most retries times, when that is safe: when it was never sent,
    when the sidecar said to wait (429), and, for calls that do the same when they are done
    twice, when no answer came or the sidecar was unavailable. Redirects are not followed and
    no proxy is used, so the key goes to url and nowhere else. Safe for use by several threads.
    """

    longest_wait = 60.0  # seconds; who is told to wait longer gets RateLimited at once

    def __init__(
        self,
        url: str,
        key: Union[str, Callable[[], str]],
        *,
        timeout: float = 30.0,
        retries: int = 3,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("url must begin with http:// or https:// and name a host")
        if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
            raise ValueError("url must have no user, password, query or fragment")
        self.url = url.rstrip("/")
        self.timeout = timeout
        self.retries = retries
        self._https = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port
        self._base = parts.path.rstrip("/")
        self._key = key
        self._sleep = sleep
        self._tls = ssl.create_default_context() if self._https else None

    def with_key(self, key: str) -> Transport:
        """The same transport with another key, such as a capability."""
        other = copy.copy(self)
        other._key = key
        return other

    def __repr__(self) -> str:
        return f"Transport({self.url!r})"

    def pause(self, wait: float) -> None:
        """Waits, in seconds."""
        self._sleep(wait)

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
                connection, response = self._send(method, path, query, headers, body)
                try:
                    return self._read(response)
                finally:
                    connection.close()
            except EarshotError as error:
                wait = self._wait(error, again, tries)
                if wait is None:
                    raise
            tries += 1
            self._sleep(wait)

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
        accept = dict(headers or {}, Accept="text/event-stream")
        connection, response = self._send(method, path, query, accept, None)
        try:
            if response.status >= 300:
                self._read(response)
            yield from _events(response)
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable(error) from None
        finally:
            connection.close()

    def _send(
        self,
        method: str,
        path: str,
        query: Optional[Query],
        headers: Optional[Query],
        body: Any,
    ) -> Tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        target = self._base + path
        pairs = _pairs(query or {})
        if pairs:
            target += "?" + urllib.parse.urlencode(pairs)
        bearer = (self._key() if callable(self._key) else self._key).strip()
        if not bearer.isascii() or not bearer.isprintable() or " " in bearer:
            raise ValueError("the key has a character that keys do not have")  # http.client would show it
        send: Dict[str, str] = {"Accept": "application/json", "Authorization": "Bearer " + bearer}
        send.update({name: str(value) for name, value in (headers or {}).items() if value is not None})
        content: Optional[bytes] = None
        if isinstance(body, (bytes, bytearray)):
            content = bytes(body)
            send.setdefault("Content-Type", "application/octet-stream")
        elif body is not None:
            content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
            send["Content-Type"] = "application/json"
        connection: http.client.HTTPConnection
        if self._https:
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=self.timeout, context=self._tls)
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=self.timeout)
        sent = False
        try:
            connection.connect()
            sent = True
            connection.request(method, target, body=content, headers=send)
            return connection, connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise _unreachable(error, sent) from None
        except BaseException:
            connection.close()
            raise

    def _read(self, response: http.client.HTTPResponse) -> Any:
        try:
            raw = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable(error) from None
        answer: Any = None
        if raw and "json" in (response.getheader("Content-Type") or ""):
            try:
                answer = json.loads(raw)
            except ValueError:
                raise Unreachable(0, "bad_answer", "the answer is not JSON") from None
        elif raw:
            answer = raw  # a file
        if response.status >= 300:
            raise refusal(response.status, response.headers, answer)
        return answer

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


def _unreachable(error: Exception, sent: bool = True) -> Unreachable:
    kind = "timeout" if isinstance(error, TimeoutError) or "timed out" in str(error) else "unreachable"
    out = Unreachable(0, kind, f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
    out.sent = sent
    return out


def _pairs(query: Query) -> "list[Tuple[str, str]]":
    """The parameters that are set; a list is several of them."""
    out = []
    for name, value in query.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None:
                out.append((name, ("true" if one else "false") if isinstance(one, bool) else str(one)))
    return out


def _events(lines: Any) -> Iterator[ServerEvent]:
    """Reads server-sent events, as the HTML standard has them."""
    name, data, last = "", [], ""
    for raw in lines:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if not line:
            if data:
                text = "\n".join(data)
                try:
                    yield ServerEvent(name or "message", json.loads(text), last)
                except ValueError:
                    yield ServerEvent(name or "message", text, last)
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id":
            last = value
