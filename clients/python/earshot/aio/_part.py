"""What the parts for platforms have in common: who is answered, what is filled in, what becomes of errors."""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import Any, Callable, Deque, Dict, Optional, Set, Tuple

from .._errors import EarshotError, NotFound
from ._client import Earshot
from ._turn import Turn
from ._world import Job, outcome, sleep

FIRST = 3.0  # seconds that an answer waits for history that is missing
WHOLE = 60.0  # seconds for which it is read in the background
LONGEST = 60.0  # seconds that a platform may have a call wait
SORRY = "Sorry, I could not answer that."

Ask = Callable[[Turn], Any]


class Part:
    """A platform's part: hears everything for the sidecar, and answers who asks."""

    platform = ""

    def __init__(self, earshot: Earshot) -> None:
        self.earshot = earshot
        self._ask: Ask = lambda turn: ""
        self._when: Optional[Callable[[Any], Any]] = None
        self._on_error: Callable[[Exception], Any] = _log
        self._options: Dict[str, Any] = {}
        self._asking: Set[str] = set()  # questions that this process is about
        self._filling: Dict[Tuple[str, Optional[str]], Job] = {}
        self._named: Set[str] = set()
        self._calls: Dict[str, Deque[float]] = {}  # when a method was called within the last minute

    def _answers(
        self,
        ask: Ask,
        when: Optional[Callable[[Any], Any]],
        on_error: Optional[Callable[[Exception], Any]],
        options: Dict[str, Any],
    ) -> None:
        self._ask, self._when, self._options = ask, when, options
        self._on_error = on_error or _log

    async def _unfinished(self) -> None:
        """Answers what a process left behind that died."""
        for left in await self.earshot.unfinished():
            if left["platform"] == self.platform:
                self._begin(left["channel"], left["anchor"])

    def _begin(self, channel: str, anchor: str) -> None:
        """Answers a message in the background, unless that is under way."""
        if anchor not in self._asking:
            self._asking.add(anchor)
            Job(f"earshot answer {anchor}", self._question, channel, anchor)

    async def _question(self, channel: str, anchor: str) -> None:
        try:
            await self._reply(channel, (await self.earshot.api.get_message(channel, anchor, platform=self.platform))["message"])
        except NotFound:
            pass  # deleted since
        except Exception as error:
            await self._failed(error)
        finally:
            self._asking.discard(anchor)

    async def _reply(self, channel: str, message: Any) -> None:
        """Answers a stored message where it was asked."""
        raise NotImplementedError

    async def _answer(
        self, channel: str, message: Any, post: Callable[[str, str], Any], find: Callable[[str], Any], **more: Any
    ) -> None:
        """Answers a message once, and tells who asked where nothing comes of it. A post that failed may have
        arrived: once its claim has run out it is looked for."""
        posting = False

        async def posted(text: str, key: str) -> Any:
            nonlocal posting
            posting = True
            return await post(text, key)

        options = dict(self._options, platform=self.platform, **more)
        for _ in range(2):
            try:
                await self.earshot.answer(channel, message["id"], self._ask, posted, find, **options)
                return
            except Exception as error:
                await self._failed(error)
                if not posting:
                    if not isinstance(error, EarshotError):  # else it may be answered, here or elsewhere
                        await self._apologise(post, "sorry" + message["id"])
                    return

    async def _apologise(self, post: Callable[[str, str], Any], key: str) -> None:
        try:
            await post(SORRY, key)
        except Exception as error:
            await self._failed(error)

    async def _failed(self, error: Exception) -> None:
        await outcome(self._on_error(error))

    async def _fill(self, channel: str, thread: Optional[str]) -> None:
        """Reads what is missing, in the background, and waits a moment for it."""
        self._filling = {at: job for at, job in self._filling.items() if not job.ended}
        job = self._filling.get((channel, thread))
        if job is None:
            job = self._filling[channel, thread] = Job(f"earshot backfill {channel}", self._filled, channel, thread)
        await job.wait(FIRST)

    async def _filled(self, channel: str, thread: Optional[str]) -> None:
        try:
            await self._missing(channel, thread, time.monotonic() + WHOLE)
        except Exception as error:
            await self._failed(error)

    async def _missing(self, channel: str, thread: Optional[str], until: float) -> None:
        """Backfills what is missing of a thread and of its channel, the newest first."""
        if thread:
            await self.earshot.backfill(channel, fetch=self.replies(channel, thread), thread=thread, seconds=WHOLE)
        covered = await self.earshot.api.get_coverage(channel, platform=self.platform)
        for gap in reversed(covered["missing"]):
            left = until - time.monotonic()
            if left > 0 and not gap.get("thread"):
                pages = self.history(channel, oldest=gap.get("from"), latest=gap.get("to"))
                await self.earshot.backfill(channel, fetch=pages, seconds=left)

    def history(self, channel: str, *, oldest: Optional[str] = None, latest: Optional[str] = None) -> Any:
        """Pages of a channel's history for Earshot.backfill, the newest first; between two times, RFC 3339."""
        raise NotImplementedError

    def replies(self, channel: str, thread: str) -> Any:
        """Pages of a thread for Earshot.backfill."""
        raise NotImplementedError

    async def _paced(self, method: str, call: Callable[..., Any], a_minute: int, **args: Any) -> Any:
        """Makes a call of the platform's, at most so often a minute, and again where it is told to wait."""
        calls = self._calls.setdefault(method, deque())
        while True:
            if len(calls) >= a_minute:
                await sleep(max(0.0, calls.popleft() + 60 - time.monotonic()))
            calls.append(time.monotonic())
            try:
                return await call(**args)
            except Exception as error:
                wait = _retry_after(error)
                if wait is None or wait > LONGEST:
                    raise
            await sleep(wait)


def _retry_after(error: Exception) -> Optional[float]:
    """For how many seconds the error of a platform's library says to wait; None if it does not."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    for name in headers:
        if name.lower() == "retry-after":
            try:
                return float(headers[name])
            except (TypeError, ValueError):
                return None
    return None


def _log(error: Exception) -> None:
    logging.getLogger("earshot").error("%s: %s", type(error).__name__, error)
