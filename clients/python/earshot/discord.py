"""Earshot's part for Discord, on discord.py, which is asynchronous: with earshot.aio.

    earshot.discord(client).answer(lambda turn: turn.run(model))
"""

from __future__ import annotations

import asyncio
import json
from datetime import datetime, timezone
from typing import Any, AsyncIterator, Callable, Dict, List, Optional, Union

from ._errors import EarshotError, NotFound
from .aio._client import Earshot
from .aio._part import Ask, Part
from .aio._world import Job, outcome

PAGE = 100  # messages
OFTEN = 3000  # calls a minute: discord.py itself keeps to the limits that Discord tells
BATCH = 100  # events told at once
LENGTH = 2000  # characters of a message
SAID = (0, 19)  # types of what people say: messages and replies
QUIET = 1 << 2  # flag: no previews of links
EPOCH = 1420070400000  # milliseconds: where Discord's ids begin
HEARD = (
    "CHANNEL_CREATE CHANNEL_UPDATE THREAD_CREATE THREAD_UPDATE MESSAGE_CREATE MESSAGE_UPDATE MESSAGE_DELETE"
    " MESSAGE_DELETE_BULK MESSAGE_REACTION_ADD MESSAGE_REACTION_REMOVE MESSAGE_REACTION_REMOVE_EMOJI"
    " MESSAGE_REACTION_REMOVE_ALL"
).split()


class Discord(Part):
    """A bot on Discord. Hears whatever the client hears, answers mentions and direct messages."""

    platform = "discord"

    def __init__(self, earshot: Earshot, client: Any) -> None:
        if not isinstance(earshot, Earshot):
            raise TypeError("discord.py is asynchronous: take Earshot from earshot.aio")
        if not getattr(client, "_enable_debug_events", True):
            raise ValueError("make the client with enable_debug_events=True, so that Earshot hears what Discord sends")
        super().__init__(earshot)
        self.client = client
        self._events: "asyncio.Queue[Dict[str, Any]]"
        self._teller: Optional[Job] = None
        self._channels: Dict[str, Dict[str, Any]] = {}  # as Discord describes them

    def answer(
        self,
        ask: Ask,
        *,
        when: Optional[Callable[[Dict[str, Any]], Any]] = None,
        on_error: Optional[Callable[[Exception], Any]] = None,
        **options: Any,
    ) -> Discord:
        """Answers who asks with what ask returns of a turn. Call it behind the client's own handlers.

        when is asked of each new message, as Discord's gateway has it, whether it is a question; by
        default those are that mention the bot, by name or by its role, or are said to it directly.
        on_error is told what fails; by default it is logged. options are those of Earshot.answer:
        instructions, policy, budget, tries, hold and so on.
        """
        self._answers(ask, when, on_error, options)
        before = getattr(self.client, "on_socket_raw_receive", None)

        async def on_socket_raw_receive(message: Union[str, bytes]) -> None:
            self._received(message)
            if before is not None:
                await before(message)

        self.client.on_socket_raw_receive = on_socket_raw_receive
        self.earshot.permalink = self._link
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
            if event["t"] == "READY":
                Job("earshot start", self._start)
            if event["t"] not in HEARD:
                continue
            await self._introduce(data.get("guild_id"))
            id = data.get("channel_id")
            if id and id not in described:
                described[id] = event["channel"] = await self._described(id)
            events.append({k: event[k] for k in ("op", "t", "s", "d", "channel") if event.get(k) is not None})
        told = await self._told(events) if events else []
        for event, result in zip(events, told):
            if event["t"] == "MESSAGE_CREATE" and result.get("message"):
                data = event["d"]
                if await outcome(self._when(data)) if self._when else self._asks(data):
                    self._begin(result["channel"], result["message"])

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

    async def _introduce(self, guild: Optional[str]) -> None:
        """Tells once for each server who the bot is there."""
        workspace = guild or "@me"
        if workspace not in self._named:
            user = self.client.user
            try:
                await self.earshot.api.put_agent(str(user.id), {"name": user.display_name, "workspace": workspace})
            except NotFound as error:  # the key does not reach it
                await self._failed(error)
            self._named.add(workspace)

    async def _start(self) -> None:
        try:
            await self._unfinished()
        except Exception as error:
            await self._failed(error)

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

    async def _reply(self, channel: str, message: Any) -> None:
        anchor, thread = message["id"], message.get("thread")
        where = thread if thread and thread != anchor else channel

        async def post(text: str, key: str) -> List[str]:
            ids: List[str] = []
            for n, part in enumerate(_parts(text)):
                body: Dict[str, Any] = {"content": part, "flags": QUIET, "allowed_mentions": {"parse": []}}
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
                if to == anchor and m["author"]["id"] == str(self.client.user.id):
                    return {"id": m["id"], "text": m["content"]}
            return None

        async def file(id: str, of: str) -> Optional[bytes]:
            found = await self.client.get_partial_messageable(int(where)).fetch_message(int(of or anchor))
            for attachment in found.attachments:
                if str(attachment.id) == id:
                    return bytes(await attachment.read())
            return None

        async def fill(turn: Any) -> None:
            await self._fill(channel, thread)

        await self._answer(channel, message, post, find, fill=fill, file=file)

    def _link(self, channel: str, message: Any) -> Optional[str]:
        thread = message.get("thread")
        where = thread if thread and thread != message["id"] else channel
        guild = self._channels.get(channel, {}).get("guild_id", "@me")
        return f"https://discord.com/channels/{guild}/{where}/{message['id']}"

    # What was said before.

    async def history(
        self, channel: str, *, oldest: Optional[str] = None, latest: Optional[str] = None
    ) -> AsyncIterator[Dict[str, Any]]:
        """Pages of the history of a channel or a thread for Earshot.backfill, the newest first; between two
        times, RFC 3339."""
        since, before = _snowflake(oldest, 0), _snowflake(latest, 1)
        at = await self._described(channel)
        while True:
            asked: Dict[str, Any] = {"limit": PAGE, **({"before": before} if before else {})}
            page = await self._call("GET", "/channels/{channel_id}/messages", channel, params=asked)
            yield {"platform": "discord", "channel": at, "page": page, **asked}
            if len(page) < PAGE or (since and int(page[-1]["id"]) < int(since)):
                return
            before = page[-1]["id"]

    async def replies(self, channel: str, thread: str) -> AsyncIterator[Dict[str, Any]]:
        """Pages of a thread for Earshot.backfill, the newest first."""
        async for page in self.history(thread):
            yield dict(page, thread=None)  # its channel says it


def _parts(text: str) -> List[str]:
    """A text in messages that Discord takes, broken between lines or words."""
    parts = []
    while len(text) > LENGTH:
        cut = max(text.rfind("\n", 1, LENGTH), 0) or max(text.rfind(" ", 1, LENGTH), 0) or LENGTH
        parts.append(text[:cut])
        text = text[cut:].lstrip()
    return [*parts, text]


def _snowflake(time: Optional[str], after: int) -> Optional[str]:
    """The first id that Discord may give at a time, or so many milliseconds after."""
    if not time:
        return None
    whole, _, fraction = time.rstrip("Z").partition(".")
    seconds = datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc).timestamp()
    return str((int(seconds) * 1000 + int(fraction.ljust(3, "0")[:3] or 0) - EPOCH + after) << 22)
