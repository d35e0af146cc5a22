"""Earshot's part for Discord, on discord.py, which is asynchronous: with earshot.aio.

    earshot.discord(client).answer(lambda turn: turn.run(model))
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any, AsyncIterator, Callable, Dict, List, Optional, Union

from . import _generated as wire
from ._errors import EarshotError, Forbidden, NotFound
from ._shapes import split
from .aio._client import Earshot
from .aio._part import FRESH, Ask, Part, Question, micros
from .aio._world import Event, Job, outcome

PAGE = 100  # messages
OFTEN = 3000  # calls a minute: discord.py itself keeps to the limits that Discord tells
BATCH = 100  # events told at once
WAITING = 10000  # events that wait while the sidecar is away
LENGTH = 2000  # characters of a message
SAID = (0, 19)  # types of what people say: messages and replies
PUBLIC_THREADS = (10, 11)  # types of channels
QUIET = 1 << 2  # flag: no previews of links
APOLOGY = "Sorry, I could not answer that."
EPOCH = 1420070400000  # milliseconds: where Discord's ids begin
HEARD = (
    "CHANNEL_CREATE CHANNEL_UPDATE THREAD_CREATE THREAD_UPDATE MESSAGE_CREATE MESSAGE_UPDATE MESSAGE_DELETE"
    " MESSAGE_DELETE_BULK MESSAGE_REACTION_ADD MESSAGE_REACTION_REMOVE MESSAGE_REACTION_REMOVE_EMOJI"
    " MESSAGE_REACTION_REMOVE_ALL"
).split()


class Discord(Part):
    """A bot on Discord. Hears whatever the client hears, answers mentions and direct messages."""

    platform = "discord"

    def __init__(self, earshot: Earshot, client: Any, *, pages: int = 10) -> None:
        if not isinstance(earshot, Earshot):
            raise TypeError("discord.py is asynchronous: take Earshot from earshot.aio")
        if not getattr(client, "_enable_debug_events", True):
            raise ValueError("make the client with enable_debug_events=True, so that Earshot hears what Discord sends")
        super().__init__(earshot)
        self.client = client
        self._most = pages
        self._events: "asyncio.Queue[Dict[str, Any]]"
        self._teller: Optional[Job] = None
        self._sweeper: Optional[Job] = None
        self._agent: Dict[str, bool] = {}  # whether the key reaches a workspace, by its id
        self._channels: Dict[str, Dict[str, Any]] = {}  # as Discord describes them

    def answer(
        self,
        ask: Ask,
        *,
        when: Optional[Callable[[Dict[str, Any]], Any]] = None,
        on_error: Optional[Callable[[Exception], Any]] = None,
        apology: str = APOLOGY,
        patience: float = 3.0,
        **options: Any,
    ) -> Discord:
        """Answers who asks with what ask returns of a turn. Call it behind the client's own handlers.

        when is asked of each new message, as Discord's gateway has it, whether it is a question; by
        default those are that mention the bot, by name or by its role, or are said to it directly.
        on_error is told what fails; by default it is logged. apology is what the asker is told if ask
        fails; "" for nothing. patience is for how many seconds an answer waits for history that is
        missing. options are those of Earshot.answer: instructions, policy, budget, tries, hold and so on.
        """
        self._answers(ask, when, on_error, apology, patience, options)
        before = getattr(self.client, "on_socket_raw_receive", None)

        async def on_socket_raw_receive(message: Union[str, bytes]) -> None:
            self._received(message)
            if before is not None:
                await before(message)

        self.client.on_socket_raw_receive = on_socket_raw_receive
        return self

    # What it hears.

    def _received(self, message: Union[str, bytes]) -> None:
        """Takes what the gateway sent, in its order."""
        event = json.loads(message)
        kind = event.get("t")
        if event.get("op") != 0 or kind not in (*HEARD, "READY", "GUILD_CREATE"):
            return
        if self._teller is None:
            self._events = asyncio.Queue()
            self._teller = Job("earshot discord", self._tells)
        if self._events.qsize() < WAITING:
            self._events.put_nowait(event)

    async def _tells(self) -> None:
        """Tells the sidecar what happens, and answers who asks, as long as the program runs."""
        while True:
            batch = [await self._events.get()]
            while not self._events.empty() and len(batch) < BATCH:
                batch.append(self._events.get_nowait())
            try:
                await self._tell(batch)
            except Exception as error:
                await self._failed(error)

    async def _tell(self, batch: List[Dict[str, Any]]) -> None:
        described: Dict[str, Any] = {}  # of a batch each channel is described once
        events = []
        for event in batch:
            data = event["d"]
            self._learn(event["t"], data)
            if event["t"] == "READY":  # a new session: what was said before it, Discord does not tell
                self._listens_anew()
                self._sweeper = self._sweeper or Job("earshot leftovers", self._leftovers)
            workspace, id = data.get("guild_id") or "@me", data.get("channel_id")
            if event["t"] not in HEARD or not await self._introduced(workspace):
                continue
            if id and id not in described:
                described[id] = event["channel"] = await self._described(id)
                at = described[id]  # a public thread is in its channel
                await self._listens(workspace, at["parent_id"] if at.get("type") in PUBLIC_THREADS else id)
            events.append({k: event[k] for k in ("op", "t", "s", "d", "channel") if event.get(k) is not None})
        told = await self._told(events) if events else []
        for event, result in zip(events, told):
            data, stored = event["d"], result.get("message")
            if event["t"] == "MESSAGE_CREATE" and stored and _time(stored) > time.time() - FRESH and not self._own(data):
                if await outcome(self._when(data)) if self._when else self._asks(data):
                    self._begin(Question(result["workspace"], result["channel"], stored))

    def _own(self, data: Dict[str, Any]) -> bool:
        return bool(data["author"]["id"] == str(self.client.user.id))

    async def _told(self, events: List[Dict[str, Any]]) -> List[Any]:
        """Tells events. Discord does not send them again: while the sidecar is away they wait here."""
        while True:
            try:
                return list(await self.earshot.raw("discord", *events))
            except EarshotError as error:
                await self._failed(error)
                if error.status not in (0, 429) and error.status < 500:
                    return [] if len(events) == 1 else [r for e in events for r in await self._told([e]) or [{}]]
            await asyncio.sleep(1)

    def _learn(self, kind: str, data: Dict[str, Any]) -> None:
        """Remembers the channels that an event describes."""
        if kind == "GUILD_CREATE":
            for channel in data.get("channels", []) + data.get("threads", []):
                self._channels[channel["id"]] = dict(channel, guild_id=data["id"])
        elif kind.startswith(("CHANNEL_", "THREAD_")):
            self._channels[data["id"]] = data

    async def _described(self, id: str) -> Dict[str, Any]:
        if id not in self._channels:
            self._channels[id] = await self._call("GET", "/channels/{channel_id}", id)
        return self._channels[id]

    async def _introduced(self, workspace: str) -> bool:
        """Tells once for each server who the bot is there. A server that the key does not reach is not heard."""
        if workspace not in self._agent:
            user = self.client.user
            try:
                await self.earshot.api.put_agent(str(user.id), {"name": user.display_name, "workspace": workspace})
                self._agent[workspace] = True
            except (NotFound, Forbidden) as error:
                self._agent[workspace] = False
                await self._failed(error)
        return self._agent[workspace]

    def _asks(self, data: Dict[str, Any]) -> bool:
        """Whether a message is a question: a mention of the bot or its role, or what is said to it directly."""
        if data["author"].get("bot") or data.get("webhook_id") or data.get("type", 0) not in SAID:
            return False
        if "guild_id" not in data:
            return True
        guild = self.client.get_guild(int(data["guild_id"]))
        role = guild.self_role if guild is not None else None
        named = any(u["id"] == str(self.client.user.id) for u in data.get("mentions", []))
        return named or (role is not None and str(role.id) in data.get("mention_roles", []))

    async def _call(self, method: str, path: str, channel: str, **args: Any) -> Any:
        from discord.http import Route  # which knows where Discord is, and keeps its limits

        route = Route(method, path, channel_id=channel)
        return await self._paced(path, self.client.http.request, OFTEN, route=route, **args)

    # How it answers.

    async def _reply(self, question: Question, message: Any, claimed: Event) -> None:
        anchor = question.anchor
        where = _channel_of(question.channel, message)

        async def post(text: str, key: str) -> List[str]:
            ids: List[str] = []
            for n, part in enumerate(split(text, LENGTH)):
                body: Dict[str, Any] = {"content": part, "flags": QUIET, "allowed_mentions": {"parse": []}}
                if key:
                    body.update(nonce=key if n == 0 else f"{key[:-1]}{n}", enforce_nonce=True)
                if n == 0:
                    body["message_reference"] = {"message_id": anchor, "fail_if_not_exists": False}
                ids.append((await self._call("POST", "/channels/{channel_id}/messages", where, json=body))["id"])
            return ids

        async def find(key: str) -> Optional[Dict[str, str]]:
            """Discord shows no nonce later: the post is the bot's reply to the question."""
            args = {"params": {"after": anchor, "limit": PAGE}}
            for m in reversed(await self._call("GET", "/channels/{channel_id}/messages", where, **args)):
                to = (m.get("message_reference") or {}).get("message_id")
                if to == anchor and self._own(m):
                    return {"id": m["id"], "text": m["content"]}
            return None

        async def file(id: str, of: str) -> Optional[bytes]:
            found = await self.client.get_partial_messageable(int(where)).fetch_message(int(of or anchor))
            for attachment in found.attachments:
                if str(attachment.id) == id:
                    return bytes(await attachment.read())
            return None

        def link(row: Dict[str, Any]) -> str:
            at = where if row["section"] in ("thread", "anchor") else question.channel
            return f"https://discord.com/channels/{question.workspace}/{at}/{row['id']}"

        await self._answer(question, message, claimed, post, find, file=file, link=link)

    # What was said before.

    async def backfill(self, channel: str, *, workspace: str, seconds: Optional[float] = None) -> None:
        """Reads what is missing of a channel or thread, of a server (of direct messages "@me"); see Earshot.backfill."""
        at = await self._described(channel)
        thread = channel if at.get("type") in PUBLIC_THREADS else None
        await self._backfill(Question(workspace, at["parent_id"] if thread else channel, ""), thread, seconds)

    async def _backfill(self, question: Question, thread: Optional[str], seconds: Optional[float]) -> None:
        place = {"workspace": question.workspace, "platform": "discord"}

        def fetch(missing: wire.CoverageEntry) -> Any:
            return self._history(thread or question.channel, missing)

        await self.earshot.backfill(question.channel, fetch=fetch, thread=thread, seconds=seconds, **place)

    async def _history(self, channel: str, missing: wire.CoverageEntry) -> AsyncIterator[Dict[str, Any]]:
        """The history of a channel or a thread, the newest first."""
        since, before = _snowflake(missing.get("from"), 0), _snowflake(missing.get("to"), 1)
        at = await self._described(channel)
        for _ in range(self._most):
            asked: Dict[str, Any] = {"limit": PAGE, **({"before": before} if before else {})}
            page = await self._call("GET", "/channels/{channel_id}/messages", channel, params=asked)
            yield {"platform": "discord", "channel": at, "thread": None, "page": page, **asked}
            if len(page) < PAGE or (since and int(page[-1]["id"]) < int(since)):
                return
            before = page[-1]["id"]


def _channel_of(channel: str, message: Any) -> str:
    """Where a message stands on Discord, for which a thread is a channel."""
    thread = message.get("thread")
    return str(thread) if thread and thread != message["id"] else channel


def _time(id: str) -> float:
    """When a message was posted, in seconds."""
    return ((int(id) >> 22) + EPOCH) / 1000


def _snowflake(time: Optional[str], after: int) -> Optional[str]:
    """The first id that Discord may give at a time, or so many milliseconds after."""
    return str((micros(time) // 1000 - EPOCH + after) << 22) if time else None
