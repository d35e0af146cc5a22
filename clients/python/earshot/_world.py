"""What differs between a program of threads and an asynchronous one: this is the one of threads, with
the standard library, aio/_world.py the other. All else of the client is one text, written in aio."""

from __future__ import annotations

import http.client
import selectors
import socket
import ssl
import threading
import time
import urllib.request
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from ._http import Address, unreachable

Event = threading.Event
sleep = time.sleep

IDLE = 30.0  # seconds for which a connection is kept that nobody uses; the sidecar keeps it for two minutes


def outcome(value: Any) -> Any:
    """What a function of the caller's returned."""
    return value


def each(pages: Any) -> Any:
    """What a caller's iterable has."""
    return pages


def until(event: Event, seconds: float) -> bool:
    """Waits for an event, at most for a time, and says whether it came."""
    return event.wait(seconds)


class Job:
    """Work in the background, which does not keep the process alive."""

    def __init__(self, name: str, work: Callable[..., Any], *args: Any) -> None:
        self._error: Optional[BaseException] = None
        self._thread = threading.Thread(target=self._run, args=(work, args), name=name, daemon=True)
        self._thread.start()

    def _run(self, work: Callable[..., Any], args: Tuple[Any, ...]) -> None:
        try:
            work(*args)
        except BaseException as error:
            self._error = error

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return not self._thread.is_alive()

    def wait(self, seconds: Optional[float] = None) -> bool:
        """Waits until it has ended, at most for a time, and says whether it has; raises what it raised."""
        self._thread.join(seconds)
        if self._error is not None:
            raise self._error
        return self.ended


def download(url: str, headers: Dict[str, str], timeout: float) -> Tuple[str, bytes]:
    """Fetches a file of a platform: its media type and its bytes."""
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=timeout) as response:
        return response.headers.get_content_type(), response.read()


class Connections:
    """Connections to one address, each used by one call at a time and kept for the next. Safe for
    use by several threads."""

    def __init__(self, at: Address, timeout: float) -> None:
        self._at = at
        self._timeout = timeout
        self._tls = ssl.create_default_context() if at.https else None
        self._idle: List[Tuple[float, http.client.HTTPConnection]] = []  # append and pop are atomic

    def send(self, method: str, target: str, headers: Dict[str, str], content: Optional[bytes]) -> "Response":
        """Sends a request and returns its answer as soon as that begins. Unreachable if none does."""
        connection = self._kept() or self._opened()
        try:
            connection.request(method, target, body=content, headers=headers)
            return Response(self, connection, connection.getresponse())
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise unreachable(error) from None
        except BaseException:
            connection.close()
            raise

    def _opened(self) -> http.client.HTTPConnection:
        at = self._at
        if self._tls is not None:
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                at.host, at.port, timeout=self._timeout, context=self._tls
            )
        else:
            connection = http.client.HTTPConnection(at.host, at.port, timeout=self._timeout)
        try:
            connection.connect()
        except OSError as error:
            connection.close()
            raise unreachable(error, sent=False) from None
        return connection

    def _kept(self) -> Optional[http.client.HTTPConnection]:
        """A kept connection that the other side has not closed."""
        while True:
            try:
                since, connection = self._idle.pop()
            except IndexError:
                return None
            if connection.sock is not None and time.monotonic() - since < IDLE and not _readable(connection.sock):
                return connection
            connection.close()

    def keep(self, connection: http.client.HTTPConnection) -> None:
        """Keeps a connection whose answer was read to its end."""
        self._idle.append((time.monotonic(), connection))

    def close(self) -> None:
        """Closes the connections that nobody uses."""
        while self._idle:
            self._idle.pop()[1].close()

    __del__ = close


def _readable(sock: socket.socket) -> bool:
    """Whether something came that nobody asked for, such as the end."""
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


class Response:
    """An answer whose body is still to be read."""

    def __init__(
        self, of: Connections, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse
    ) -> None:
        self._of = of
        self._connection = connection
        self._answer = answer
        self.status = answer.status
        self.headers = answer.headers

    def read(self) -> bytes:
        """Its whole body. The connection is kept then, where both sides do."""
        try:
            raw = self._answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise unreachable(error) from None
        if not self._answer.will_close:
            self._of.keep(self._connection)
        return raw

    def lines(self) -> Iterator[str]:
        """Its lines, as they come."""
        try:
            for raw in self._answer:
                yield raw.decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            raise unreachable(error) from None

    def close(self) -> None:
        """Gives it up, where it was not read to its end."""
        if self._answer.will_close or not self._answer.isclosed():
            self._connection.close()
