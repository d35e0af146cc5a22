# Written by "make clients" from aio/_part.py. Do not edit: change that.
"""What the parts for platforms have in common: who is answered, what is read before, what becomes of errors."""

from __future__ import annotations

import logging
import time
from collections import deque
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Deque, Dict, NamedTuple, Optional, Set

from ._errors import EarshotError, Forbidden, NotFound
from ._shapes import text_of
from ._client import Earshot
from ._turn import Turn
from ._world import Event, Job, outcome, sleep, until

CLAIMING = 2.0  # seconds that the delivery of a question waits for its claim; Slack wants it acknowledged in three
SWEEP = 60.0  # seconds between looks at what dead processes left
AGAIN = 600.0  # seconds for which history that was read is not asked for again
FRESH = 600.0  # seconds after which a question that arrives is not answered
LONGEST = 60.0  # seconds that a platform may have a call wait
START = datetime(1970, 1, 1, tzinfo=timezone.utc)

Ask = Callable[[Turn], Any]


class Question(NamedTuple):
    """A message that is to be answered, by the ids under which the sidecar has it."""

    workspace: str
    channel: str
    anchor: str


class Part:
    """A platform's part: hears everything for the sidecar, and answers who asks."""

    platform = ""

    def __init__(self, earshot: Earshot) -> None:
        self.earshot = earshot
        self._ask: Optional[Ask] = None
        self._when: Optional[Callable[[Any], Any]] = None
        self._on_error: Callable[[Exception], Any] = _log
        self._apology = ""
        self._patience = 0.0
        self._options: Dict[str, Any] = {}
        self._since = 0  # when it began to listen, in microseconds
        self._busy: Dict[Question, Event] = {}  # questions under way, and whether they are claimed
        self._read: Dict[Any, float] = {}  # until when history was read, by place
        self._reading: Dict[Any, Event] = {}  # places whose history is being read, and whether that has ended
        self._listening: Set[Any] = set()  # channels that are listened to
        self._met: Set[str] = set()  # channels and people whose names are told
        self._calls: Dict[str, Deque[float]] = {}  # when a method was called within the last minute

    def _answers(
        self,
        ask: Ask,
        when: Optional[Callable[[Any], Any]],
        on_error: Optional[Callable[[Exception], Any]],
        apology: str,
        patience: float,
        options: Dict[str, Any],
    ) -> None:
        self._ask, self._when, self._options = ask, when, options
        self._on_error, self._apology, self._patience = on_error or _log, apology, patience
        self._listens_anew()

    def _listens_anew(self) -> None:
        """Notes that what is said is heard from now on, and not what was said since somebody listened last."""
        self._since = time.time_ns() // 1000
        self._listening.clear()
        self._read.clear()

    # What is answered.

    def _leftovers(self) -> None:
        """Answers what processes that died have left, now and once a minute."""
        first = True
        while True:
            try:
                for left in self.earshot.unfinished():
                    # At the start also what is not expired yet: of a process that died a moment ago.
                    if left["platform"] == self.platform and (first or left["state"] == "expired"):
                        self._begin(Question(left["workspace"], left["channel"], left["anchor"]))
            except Exception as error:
                self._failed(error)
            first = False
            sleep(SWEEP)

    def _begin(self, question: Question) -> Event:
        """Answers a question in the background, unless that is under way. The event says that it is claimed."""
        claimed = self._busy.get(question)
        if claimed is None:
            claimed = self._busy[question] = Event()
            Job(f"earshot answer {question.anchor}", self._question, question, claimed)
        return claimed

    def _asked(self, question: Question) -> None:
        """Begins an answer, and returns once the question is claimed, so that it is not lost with this process."""
        until(self._begin(question), CLAIMING)

    def _question(self, question: Question, claimed: Event) -> None:
        try:
            self._listens(question.workspace, question.channel)
            stored = self.earshot.api.get_message(
                question.channel, question.anchor, platform=self.platform, workspace=question.workspace
            )
            self._reply(question, stored["message"], claimed)
        except NotFound:
            pass  # deleted since
        except Exception as error:
            self._failed(error)
        finally:
            claimed.set()
            self._busy.pop(question, None)

    def _reply(self, question: Question, message: Any, claimed: Event) -> None:
        """Answers a stored message where it was asked, by _answer."""
        raise NotImplementedError

    def _answer(
        self,
        question: Question,
        message: Any,
        claimed: Event,
        post: Callable[[str, str], Any],
        find: Callable[[str], Any],
        **more: Any,
    ) -> None:
        """Answers a message once, and tells who asked where nothing comes of it. A post that failed may have
        arrived: once its claim has run out it is looked for."""
        posting = False

        def ask(turn: Turn) -> str:
            reply = text_of(outcome(self._ask(turn))) if self._ask else ""
            if not reply.strip():
                raise ValueError("the reply has no text")
            return reply

        def posted(text: str, key: str) -> Any:
            nonlocal posting
            posting = True
            return post(text, key)

        began = time.monotonic()

        def backfill(turn: Turn) -> bool:
            return self._backfilled(question, message.get("thread"), began)

        place = {"workspace": question.workspace, "platform": self.platform}
        options: Dict[str, Any] = {**self._options, **place, **more, "backfill": backfill, "claimed": lambda turn: claimed.set()}
        for _ in range(2):
            try:
                self.earshot.answer(question.channel, question.anchor, ask, posted, find, **options)
                return
            except Exception as error:
                self._failed(error)
                if not posting:
                    if self._apology and not isinstance(error, EarshotError):  # else it may be answered elsewhere
                        self._apologise(post)
                    return

    def _apologise(self, post: Callable[[str, str], Any]) -> None:
        try:
            post(self._apology, "")
        except Exception as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        outcome(self._on_error(error))

    # What was said before.

    def _backfilled(self, question: Question, thread: Optional[str], began: float) -> bool:
        """Reads what is missing around a question, for a moment before the answer and then in the background,
        unless that was tried a short time ago; questions of one place that ask at once read it together. What
        was read since an answer began may be newer than its context, which is made anew then."""
        now, place = time.monotonic(), (question.workspace, question.channel, thread)
        for at, when in list(self._read.items()):
            if when <= now - AGAIN:
                self._read.pop(at, None)
        ended = Event()
        reading = self._reading.setdefault(place, ended)
        if reading is not ended:
            reading.wait()
            return True
        try:
            if place in self._read:
                return self._read[place] >= began
            try:
                for part in [thread, None] if thread else [None]:
                    left = max(0.0, now + self._patience - time.monotonic())
                    self._backfill(question, part, left)
            except Exception as error:
                self._failed(error)  # the prompt says what is missing
            self._read[place] = time.monotonic()
            return True
        finally:
            self._reading.pop(place, None)
            ended.set()

    def _backfill(self, question: Question, thread: Optional[str], seconds: float) -> None:
        """Reads what is missing of a thread, or of a channel, by Earshot.backfill."""
        raise NotImplementedError

    def _listens(self, workspace: str, channel: str) -> None:
        """Tells of a channel, before its first event or answer, that nobody listened since its newest stored
        message."""
        if (workspace, channel) in self._listening:
            return
        self._listening.add((workspace, channel))
        place = {"workspace": workspace, "platform": self.platform}
        try:
            newest = self.earshot.api.list_messages(channel, limit=1, **place)["messages"]
            at = newest[-1].get("time") if newest else None
            if not at or micros(at) >= self._since:
                return
            gap = {"from": at, "to": rfc3339(self._since), "state": "missing", "why": "the bot was not running"}
            body: Any = {"channel": {"id": channel, **place}, "coverage": [gap]}
            self.earshot.api.post_coverage(body)
        except (NotFound, Forbidden):
            pass  # a new channel, or one that the key does not reach

    def _paced(self, method: str, call: Callable[..., Any], a_minute: int, **args: Any) -> Any:
        """Makes a call of the platform's, at most so often a minute, and again where it is told to wait."""
        calls = self._calls.setdefault(method, deque())
        while True:
            if len(calls) >= a_minute:
                sleep(max(0.0, calls.popleft() + 60 - time.monotonic()))
            calls.append(time.monotonic())
            try:
                return call(**args)
            except Exception as error:
                wait = _retry_after(error)
                if wait is None or wait > LONGEST:
                    raise
            sleep(wait)


def micros(time: str) -> int:
    """A time of RFC 3339, in UTC, in microseconds."""
    whole, _, fraction = time.rstrip("Z").partition(".")
    at = datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return (at - START) // timedelta(microseconds=1) + int(fraction[:6].ljust(6, "0"))


def rfc3339(at: int) -> str:
    """A time in microseconds as RFC 3339 has it."""
    return (START + timedelta(microseconds=at)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


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
