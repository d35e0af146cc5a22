"""Earshot's part for Slack, on Bolt.

    earshot.slack(app).answer(lambda turn: turn.run(model))

It is written against Bolt's documented interface: App.use, App.event and the methods of its client.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Any, AsyncIterator, Callable, Dict, Iterable, List, Optional

from .._errors import EarshotError
from ._client import Earshot
from ._part import Ask, Part
from ._world import Job, download, outcome

PAGE = 100  # messages
HISTORY = 40  # calls a minute and method; Slack allows apps of one's own workspace 50
OTHERS = 40
SAID = (None, "file_share", "thread_broadcast", "me_message")  # subtypes of what people say
MOST = 20 << 20  # bytes of a file that the sidecar takes


class Slack(Part):
    """One workspace's bot. Hears whatever the app hears, answers mentions and direct messages."""

    platform = "slack"

    def __init__(self, earshot: Earshot, app: Any) -> None:
        super().__init__(earshot)
        self.app = app
        self._me: Dict[str, Any] = {}
        self._starting: Optional[Job] = None

    def answer(
        self,
        ask: Ask,
        *,
        when: Optional[Callable[[Dict[str, Any]], Any]] = None,
        on_error: Optional[Callable[[Exception], Any]] = None,
        **options: Any,
    ) -> Slack:
        """Answers who asks with what ask returns of a turn. Call it behind the app's own listeners.

        when is asked of each event whether it is a question; by default those are that mention the
        bot, or are said to it directly. on_error is told what fails; by default it is logged. options
        are those of Earshot.answer: instructions, policy, budget, tries, hold and so on.
        """
        self._answers(ask, when, on_error, options)

        async def hear(body: Dict[str, Any], next: Callable[[], Any]) -> None:
            await self._heard(body)
            await next()

        async def acknowledge() -> None:
            """Takes the events that the app has no listener for, or Slack would send them again."""

        self.app.use(hear)
        self.app.event(re.compile(""))(acknowledge)
        self.earshot.permalink = self._link
        try:
            self._starting = Job("earshot start", self._start)
        except RuntimeError:
            pass  # no event loop runs yet: the first event starts it
        return self

    # What it hears.

    async def _start(self) -> None:
        self._me = _data(await self.app.client.auth_test())
        agent = {"name": self._me["user"], "workspace": self._me["team_id"]}
        await self.earshot.api.put_agent(self._me["user_id"], agent)  # type: ignore[arg-type,unused-ignore]
        await self._unfinished()

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
        await self.earshot.raw("slack", body)
        channel, ts = event.get("channel"), event.get("ts")
        if event.get("type") not in ("message", "app_mention") or not isinstance(channel, str) or not ts:
            return
        await self._names(channel, [event])
        if await outcome(self._when(event)) if self._when else self._asks(event):
            self._begin(channel, ts)

    def _asks(self, event: Dict[str, Any]) -> bool:
        """Whether an event is a question: a mention of the bot, or what is said to it directly."""
        if event.get("bot_id") or event.get("edited") or event.get("user") in (None, self._me["user_id"]):
            return False
        said = event.get("channel_type") == "im" and event.get("subtype") in SAID
        return event["type"] == "app_mention" or said

    async def _names(self, channel: str, messages: Iterable[Dict[str, Any]]) -> None:
        """Tells the names of a channel and of people who were not met before. What cannot be had stays an id."""
        ids: List[str] = []
        for m in messages:
            ids += [m.get("user") or "", *re.findall(r"<@([UW]\w+)", m.get("text") or "")]
        people = []
        for id in dict.fromkeys(i for i in ids if i and i not in self._named):
            user = (await self._known(id, "users_info", user=id)).get("user")
            if user:
                profile = user.get("profile", {})
                name = profile.get("display_name") or profile.get("real_name") or user.get("name") or id
                people.append({"id": id, "name": name, "kind": "bot" if user.get("is_bot") else "human"})
        if people:
            authors = {"workspace": self._me["team_id"], "platform": "slack", "authors": people}
            await self.earshot.api.put_authors(authors)  # type: ignore[arg-type,unused-ignore]
        if channel not in self._named:
            found = (await self._known(channel, "conversations_info", channel=channel)).get("channel") or {}
            about = {"name": found.get("name"), "topic": (found.get("topic") or {}).get("value")}
            body = dict({k: v for k, v in about.items() if v}, workspace=self._me["team_id"], platform="slack")
            if found.get("name"):
                await self.earshot.api.put_channel(channel, body)  # type: ignore[arg-type,unused-ignore]

    async def _known(self, id: str, method: str, **args: Any) -> Dict[str, Any]:
        self._named.add(id)
        try:
            return _data(await self._call(method, **args))
        except EarshotError:
            raise
        except Exception as error:
            await self._failed(error)
            return {}

    async def _call(self, method: str, **args: Any) -> Any:
        history = method in ("conversations_history", "conversations_replies")
        return await self._paced(method, getattr(self.app.client, method), HISTORY if history else OTHERS, **args)

    # How it answers.

    async def _reply(self, channel: str, message: Any) -> None:
        await self.started()
        direct = channel.startswith("D") and not message.get("thread")
        thread = None if direct else message.get("thread") or message["id"]
        where = {"channel": channel} if direct else {"channel": channel, "thread_ts": thread}

        async def post(text: str, key: str) -> str:
            metadata = {"event_type": "earshot_reply", "event_payload": {"key": key}}
            return str((await self._call("chat_postMessage", text=text, metadata=metadata, **where))["ts"])

        async def find(key: str) -> Optional[Dict[str, str]]:
            async for page in self._pages(channel, thread, {"oldest": message["id"], "include_all_metadata": True}):
                for m in page["messages"]:
                    if m.get("metadata", {}).get("event_payload", {}).get("key") == key:
                        return {"id": m["ts"], "text": m["text"]}
            return None

        async def fill(turn: Any) -> None:
            await self._fill(channel, message.get("thread"))

        await self._answer(channel, message, post, find, fill=fill, file=self._file)

    async def _file(self, id: str) -> Optional[bytes]:
        """A file's content, with the bot's token. None where it cannot be had."""
        try:
            file = _data(await self._call("files_info", file=id))["file"]
            url = file.get("url_private_download") or file.get("url_private")
            if not url or file.get("size", 0) > MOST or file.get("mode") == "external":
                return None
            kind, data = await download(url, {"Authorization": "Bearer " + self.app.client.token}, 30.0)
        except Exception as error:
            await self._failed(error)
            return None
        return None if kind == "text/html" and file.get("mimetype") != "text/html" else data  # a page to log in

    def _link(self, channel: str, message: Any) -> Optional[str]:
        if not self._me or not re.fullmatch(r"\d+\.\d+", message["id"]):
            return None
        link = f"{self._me['url']}archives/{channel}/p{message['id'].replace('.', '')}"
        thread = message.get("thread")
        return f"{link}?thread_ts={thread}&cid={channel}" if thread and thread != message["id"] else link

    # What was said before.

    async def history(
        self, channel: str, *, oldest: Optional[str] = None, latest: Optional[str] = None
    ) -> AsyncIterator[Dict[str, Any]]:
        """Pages of a channel's history for Earshot.backfill, the newest first; between two times, RFC 3339."""
        since, before = _ts(oldest, -1), _ts(latest, 1)
        while True:
            asked = {k: v for k, v in (("oldest", since), ("latest", before)) if v}
            page = _data(await self._call("conversations_history", channel=channel, limit=PAGE, **asked))
            await self._names(channel, page["messages"])
            yield {"platform": "slack", "page": page, **asked}
            if not page.get("has_more") or not page["messages"]:
                return
            before = page["messages"][-1]["ts"]

    async def replies(self, channel: str, thread: str) -> AsyncIterator[Dict[str, Any]]:
        """Pages of a thread for Earshot.backfill, the oldest first."""
        asked: Dict[str, Any] = {}
        async for page in self._pages(channel, thread, {}):
            await self._names(channel, page["messages"])
            yield {"platform": "slack", "page": page, **asked}
            asked = {"oldest": page["messages"][-1]["ts"]} if page["messages"] else asked

    async def _pages(
        self, channel: str, thread: Optional[str], args: Dict[str, Any]
    ) -> AsyncIterator[Dict[str, Any]]:
        """The pages of a thread, or of a channel, as Slack answers them."""
        method = "conversations_replies" if thread else "conversations_history"
        args = dict(args, channel=channel, limit=PAGE, **({"ts": thread} if thread else {}))
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
    """A time as Slack writes it, so many microseconds beside it: Slack leaves out both ends."""
    if not time:
        return None
    whole, _, fraction = time.rstrip("Z").partition(".")
    at = datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    at += timedelta(microseconds=int(fraction.ljust(6, "0")[:6] or 0) + beside)
    return f"{int(at.timestamp())}.{at.microsecond:06}"
