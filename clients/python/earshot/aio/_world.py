"""What differs between an asynchronous program and one of threads: this is the asynchronous one, with
httpx, ../_world.py the other. All else of the client is one text, written here."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, AsyncIterator, Callable, Dict, Optional, Set, Tuple

try:
    import httpx
except ImportError as error:
    raise ImportError("earshot.aio needs httpx: pip install 'earshot[aio]'") from error

from .._http import Address, unreachable

Event = asyncio.Event
sleep = asyncio.sleep

IDLE = 30.0  # seconds for which a connection is kept that nobody uses; the sidecar keeps it for two minutes
NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


async def outcome(value: Any) -> Any:
    """What a function of the caller's returned, which may be asynchronous or not."""
    return await value if inspect.isawaitable(value) else value


async def each(pages: Any) -> AsyncIterator[Any]:
    """What a caller's iterable has, which may be asynchronous or not."""
    if hasattr(pages, "__aiter__"):
        async for page in pages:
            yield page
    else:
        for page in pages:
            yield page


async def until(event: Event, seconds: float) -> bool:
    """Waits for an event, at most for a time, and says whether it came."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except asyncio.TimeoutError:
        pass
    return event.is_set()


class Job:
    """Work in the background, in the running event loop."""

    _running: Set["asyncio.Task[Any]"] = set()  # the event loop itself would let go of them

    def __init__(self, name: str, work: Callable[..., Any], *args: Any) -> None:
        self._task: "asyncio.Task[Any]" = asyncio.get_running_loop().create_task(work(*args))
        self._running.add(self._task)
        self._task.add_done_callback(self._ends)

    def _ends(self, task: "asyncio.Task[Any]") -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits hears of it

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self._task.done()

    async def wait(self, seconds: Optional[float] = None) -> bool:
        """Waits until it has ended, at most for a time, and says whether it has; raises what it raised."""
        await asyncio.wait({self._task}, timeout=seconds)
        if self.ended:
            self._task.result()
        return self.ended


async def download(url: str, headers: Dict[str, str], timeout: float) -> Tuple[str, bytes]:
    """Fetches a file of a platform: its media type and its bytes."""
    async with httpx.AsyncClient(timeout=timeout, trust_env=False) as client:
        response = await client.get(url, headers=headers)
        response.raise_for_status()
        return response.headers.get("Content-Type", "").partition(";")[0], response.content


class Connections:
    """Connections to one address, kept by httpx."""

    def __init__(self, at: Address, timeout: float) -> None:
        port = "" if at.port is None else f":{at.port}"
        host = f"[{at.host}]" if ":" in at.host else at.host
        self._base = f"{'https' if at.https else 'http'}://{host}{port}"
        self._client = httpx.AsyncClient(
            timeout=timeout,
            trust_env=False,
            verify=at.https,  # else certificates would be loaded for nothing
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=IDLE),
        )

    async def send(self, method: str, target: str, headers: Dict[str, str], content: Optional[bytes]) -> "Response":
        """Sends a request and returns its answer as soon as that begins. Unreachable if none does."""
        request = self._client.build_request(method, self._base + target, headers=headers, content=content)
        try:
            return Response(await self._client.send(request, stream=True))
        except httpx.TransportError as error:
            raise _unreachable(error) from None

    async def close(self) -> None:
        """Closes all connections."""
        await self._client.aclose()


class Response:
    """An answer whose body is still to be read."""

    def __init__(self, answer: httpx.Response) -> None:
        self._answer = answer
        self.status = answer.status_code
        self.headers = answer.headers

    async def read(self) -> bytes:
        """Its whole body."""
        try:
            return await self._answer.aread()
        except httpx.TransportError as error:
            raise _unreachable(error) from None

    async def lines(self) -> AsyncIterator[str]:
        """Its lines, as they come."""
        try:
            async for line in self._answer.aiter_lines():
                yield line
        except httpx.TransportError as error:
            raise _unreachable(error) from None

    async def close(self) -> None:
        """Gives it up, where it was not read to its end."""
        await self._answer.aclose()


def _unreachable(error: httpx.TransportError) -> Exception:
    return unreachable(error, not isinstance(error, NEVER_SENT), isinstance(error, httpx.TimeoutException))
