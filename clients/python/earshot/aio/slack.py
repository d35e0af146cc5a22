"""Earshot's part for Slack, on Bolt.

    earshot.slack(app).answer(lambda turn: turn.run(model))

It is written against Bolt's documented interface: App.use, App.event and the methods of its client.
"""

from __future__ import annotations

import re
import time
import urllib.parse
from typing import Any, AsyncIterator, Callable, Dict, Iterable, List, Optional

from .. import _generated as wire
from .._errors import EarshotError
from .._shapes import split
from ._client import Earshot
from ._part import FRESH, Ask, Part, Question, micros
from ._world import Event, Job, download, outcome

TIERS = {"internal": (40, 200), "distributed": (1, 15)}  # calls a minute and messages of a page, of history
OTHERS = 40  # calls a minute of other methods
LENGTH = 12000  # characters of Markdown in a post
SAID = (None, "file_share", "thread_broadcast", "me_message")  # subtypes of what people say
MOST = 20 << 20  # bytes of a file that the sidecar takes
APOLOGY = "Sorry, I could not answer that."


class Slack(Part):
    """One workspace's bot. Hears whatever the app hears, answers mentions and direct messages."""

    platform = "slack"

    def __init__(self, earshot: Earshot, app: Any, *, tier: str = "internal", pages: int = 10) -> None:
        super().__init__(earshot)
        self.app = app
        self._rate, self._page = TIERS[tier]
        self._most = pages
        self._me: Dict[str, Any] = {}
        self._starting: Optional[Job] = None

    def answer(
        self,
        ask: Ask,
        *,
        when: Optional[Callable[[Dict[str, Any]], Any]] = None,
        on_error: Optional[Callable[[Exception], Any]] = None,
        apology: str = APOLOGY,
        patience: float = 3.0,
        **options: Any,
    ) -> Slack:
        """Answers who asks with what ask returns of a turn. Call it behind the app's own listeners.

        when is asked of each event whether it is a question; by default those are that mention the
        bot, or are said to it directly. on_error is told what fails; by default it is logged. apology
        is what the asker is told if ask fails; "" for nothing. patience is for how many seconds an
        answer waits for history that is missing. options are those of Earshot.answer: instructions,
        policy, budget, tries, hold and so on.
        """
        self._answers(ask, when, on_error, apology, patience, options)

        async def hear(body: Dict[str, Any], next: Callable[[], Any]) -> None:
            await self._heard(body)
            await next()

        async def acknowledge() -> None:
            """Takes the events that the app has no listener for, or Slack would send them again."""

        self.app.use(hear)
        self.app.event(re.compile(""))(acknowledge)
        try:
            self._starting = Job("earshot start", self._start)
        except RuntimeError:
            pass  # no event loop runs yet: the first event starts it
        return self

    # What it hears.

    async def _start(self) -> None:
        self._me = _data(await self.app.client.auth_test())
        agent = {"name": self._me["user"], "workspace": self._me["team_id"]}
        await self.earshot.api.put_agent(self._me["user_id"], agent)  # type: ignore[arg-type]
        Job("earshot leftovers", self._leftovers)

    async def started(self) -> None:
        """Waits until the bot knows who it is; an asynchronous program may await it at its start."""
        if self._starting is None:
            self._starting = Job("earshot start", self._start)
        try:
            await self._starting.wait()
        except Exception:
            self._starting = None  # the next event tries again
            raise

    async def _heard(self, body: Dict[str, Any]) -> None:
        """Takes a delivery. If that fails it is not acknowledged, and Slack sends it again."""
        event = body.get("event")
        if not isinstance(event, dict):
            return  # a button, a command
        await self.started()
        channel, ts = event.get("channel") or (event.get("item") or {}).get("channel"), event.get("ts")
        if isinstance(channel, str):
            await self._listens(self._me["team_id"], channel)
        await self.earshot.raw("slack", body)
        if event.get("type") not in ("message", "app_mention") or not isinstance(channel, str) or not ts:
            return
        await self._names(channel, [event])
        if float(ts) < time.time() - FRESH or event.get("user") == self._me["user_id"]:
            return
        if await outcome(self._when(event)) if self._when else self._asks(event):
            await self._asked(Question(self._me["team_id"], channel, ts))

    def _asks(self, event: Dict[str, Any]) -> bool:
        """Whether an event is a question: a mention of the bot, or what is said to it directly."""
        if event.get("bot_id") or event.get("edited") or not event.get("user"):
            return False
        said = event.get("channel_type") == "im" and event.get("subtype") in SAID
        return event["type"] == "app_mention" or said

    async def _names(self, channel: str, messages: Iterable[Dict[str, Any]]) -> None:
        """Tells the names of a channel and of people who were not met before. What cannot be had stays an id."""
        ids: List[str] = []
        for m in messages:
            ids += [m.get("user") or "", *re.findall(r"<@([UW]\w+)", m.get("text") or "")]
        people = []
        for id in dict.fromkeys(i for i in ids if i and i not in self._met):
            user = (await self._known(id, "users_info", user=id)).get("user")
            if user:
                profile = user.get("profile", {})
                name = profile.get("display_name") or profile.get("real_name") or user.get("name") or id
                people.append({"id": id, "name": name, "kind": "bot" if user.get("is_bot") else "human"})
        if people:
            authors = {"workspace": self._me["team_id"], "platform": "slack", "authors": people}
            await self.earshot.api.put_authors(authors)  # type: ignore[arg-type]
        if channel not in self._met:
            found = (await self._known(channel, "conversations_info", channel=channel)).get("channel") or {}
            about = {"name": found.get("name"), "topic": (found.get("topic") or {}).get("value")}
            body = dict({k: v for k, v in about.items() if v}, workspace=self._me["team_id"], platform="slack")
            if found.get("name"):
                await self.earshot.api.put_channel(channel, body)  # type: ignore[arg-type]

    async def _known(self, id: str, method: str, **args: Any) -> Dict[str, Any]:
        self._met.add(id)
        try:
            return _data(await self._call(method, **args))
        except EarshotError:
            raise
        except Exception as error:
            await self._failed(error)
            return {}

    async def _call(self, method: str, **args: Any) -> Any:
        return await self._paced(method, getattr(self.app.client, method), OTHERS, **args)

    # How it answers.

    async def _reply(self, question: Question, message: Any, claimed: Event) -> None:
        await self.started()
        channel, anchor = question.channel, question.anchor
        thread = message.get("thread") or (None if channel.startswith("D") else anchor)
        where = {"channel": channel, **({"thread_ts": thread} if thread else {})}

        async def post(text: str, key: str) -> List[str]:
            metadata = {"event_type": "earshot_reply", "event_payload": {"key": key}}
            said = {"unfurl_links": False, "unfurl_media": False, "metadata": metadata, **where}
            ids: List[str] = []
            for part in split(text, LENGTH):
                ids.append(str((await self._call("chat_postMessage", markdown_text=part, **said))["ts"]))
            return ids

        async def find(key: str) -> Optional[Dict[str, Any]]:
            found = []
            async for page in self._pages(channel, thread, {"oldest": anchor, "include_all_metadata": True}):
                found += [m for m in page["messages"] if (m.get("metadata") or {}).get("event_payload", {}).get("key") == key]
            found.sort(key=lambda m: str(m["ts"]))
            return {"id": [m["ts"] for m in found], "text": "\n".join(m["text"] for m in found)} if found else None

        def link(row: Dict[str, Any]) -> str:
            url = f"{self._me['url']}archives/{channel}/p{row['id'].replace('.', '')}"
            root = row.get("thread") or (thread if row["section"] in ("thread", "delta", "anchor") else None)
            return f"{url}?thread_ts={root}&cid={channel}" if root and row["id"] > root else url

        await self._answer(question, message, claimed, post, find, file=self._file, link=link)

    async def _file(self, id: str) -> Optional[bytes]:
        """A file's content, with the bot's token. None where it cannot be had."""
        try:
            file = _data(await self._call("files_info", file=id))["file"]
            url = file.get("url_private_download") or file.get("url_private")
            if not url or file.get("size", 0) > MOST or not self._ours(url):
                return None
            kind, data = await download(url, {"Authorization": "Bearer " + self.app.client.token}, 30.0)
        except Exception as error:
            await self._failed(error)
            return None
        pages = ("text/html", "application/vnd.slack-docs")  # the second are canvases
        return None if kind == "text/html" and file.get("mimetype") not in pages else data  # a page to log in

    def _ours(self, url: str) -> bool:
        """Whether a file lies at Slack, or where its API is: nobody else is given the token."""
        at, api = urllib.parse.urlsplit(url), urllib.parse.urlsplit(self.app.client.base_url)
        slack = at.scheme == "https" and f".{at.hostname}".endswith(".slack.com")
        return slack or (at.scheme, at.netloc) == (api.scheme, api.netloc)

    # What was said before.

    async def backfill(self, channel: str, *, thread: Optional[str] = None, seconds: Optional[float] = None) -> None:
        """Reads what is missing of a channel's own history, or of a thread's, within Slack's rate; see
        Earshot.backfill."""
        await self.started()
        await self._backfill(Question(self._me["team_id"], channel, ""), thread, seconds)

    async def _backfill(self, question: Question, thread: Optional[str], seconds: Optional[float]) -> None:
        channel = question.channel
        place = {"workspace": question.workspace, "platform": "slack"}

        def fetch(missing: wire.CoverageEntry) -> Any:
            return self._replies(channel, thread, missing) if thread else self._history(channel, missing)

        await self.earshot.backfill(channel, fetch=fetch, thread=thread, seconds=seconds, **place)

    async def _history(self, channel: str, missing: wire.CoverageEntry) -> AsyncIterator[Dict[str, Any]]:
        """A channel's own history, the newest first."""
        since, before = _ts(missing.get("from"), -1), _ts(missing.get("to"), 1)
        for _ in range(self._most):
            asked = {k: v for k, v in (("oldest", since), ("latest", before)) if v}
            page = await self._history_page("conversations_history", channel=channel, **asked)
            yield {"platform": "slack", "page": page, **asked}
            if not page.get("has_more") or not page["messages"]:
                return
            before = page["messages"][-1]["ts"]

    async def _replies(self, channel: str, thread: str, missing: wire.CoverageEntry) -> AsyncIterator[Dict[str, Any]]:
        """A thread, which Slack tells from its beginning."""
        since, before = _ts(missing.get("from"), -1), _ts(missing.get("to"), 1)
        while True:
            asked = {k: v for k, v in (("oldest", since), ("latest", before)) if v}
            page = await self._history_page("conversations_replies", channel=channel, ts=thread, **asked)
            yield {"platform": "slack", "page": page, **asked}
            last = page["messages"][-1]["ts"] if page["messages"] else since
            if not page.get("has_more") or last == since:
                return
            since = last

    async def _history_page(self, method: str, channel: str, **args: Any) -> Dict[str, Any]:
        call = getattr(self.app.client, method)
        page = _data(await self._paced(method, call, self._rate, channel=channel, limit=self._page, **args))
        await self._names(channel, page["messages"])
        return page

    async def _pages(self, channel: str, thread: Optional[str], args: Dict[str, Any]) -> AsyncIterator[Dict[str, Any]]:
        """The pages of a thread, or of a channel, in which a post is looked for."""
        method = "conversations_replies" if thread else "conversations_history"
        args = {**args, "channel": channel, "limit": self._page, **({"ts": thread} if thread else {})}
        while True:
            page = _data(await self._call(method, **args))
            yield page
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not page.get("has_more") or not cursor:
                return
            args["cursor"] = cursor


def _data(answer: Any) -> Dict[str, Any]:
    """The body of an answer of Slack's client."""
    data = getattr(answer, "data", answer)
    return dict(data)


def _ts(time: Optional[str], beside: int) -> Optional[str]:
    """A time as Slack writes it, so many microseconds beside it: Slack leaves out both ends of a range."""
    if not time:
        return None
    at = micros(time) + beside
    return f"{at // 1000000}.{at % 1000000:06}"
