"""The front of the client: what is written by hand above the generated operations."""

from __future__ import annotations

import os
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Dict, List, Optional, Type, Union, cast

from .. import _generated as wire
from .._errors import Conflict, NotFound
from ._operations import Operations
from ._transport import ServerEvent, Transport
from ._turn import Context, Turn, place_of, takes_two
from ._world import Job, each, outcome

if TYPE_CHECKING:
    from ..discord import Discord
    from .slack import Slack

BATCH = 1000  # events in one call, as the API allows


class Earshot:
    """A sidecar, called with a key.

    url and key default to EARSHOT_URL and EARSHOT_KEY; key may be a function that returns one,
    such as a JSON Web Token that is renewed. workspace, platform and agent are used for calls
    that do not name their own; without them the sidecar takes the only one that fits. timeout
    is in seconds. Every method raises EarshotError or a class below it. Connections are kept and
    used again. One Earshot does for a whole process.
    """


    def __init__(
        self,
        url: Optional[str] = None,
        key: Union[str, Callable[[], Any], None] = None,
        *,
        workspace: Optional[str] = None,
        platform: Optional[str] = None,
        agent: Optional[str] = None,
        timeout: float = 30.0,
        retries: int = 3,
    ) -> None:
        key = key or os.environ.get("EARSHOT_KEY")
        if not key:
            raise ValueError("a key is needed: pass one or set EARSHOT_KEY; earshot key create makes one")
        url = url or os.environ.get("EARSHOT_URL") or "http://127.0.0.1:7301"
        self._transport = Transport(url, key, timeout=timeout, retries=retries)
        self.api = Operations(self._transport)
        self.workspace = workspace
        self.platform = platform
        self.agent = agent
        self._tools: Optional[List[wire.ToolInfo]] = None
        self._filling: Dict[Any, Job] = {}  # backfills under way
        self._gives = False  # it has given the content of a file

    def __repr__(self) -> str:
        return f"Earshot({self._transport.url!r})"

    async def __aenter__(self) -> Earshot:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections that nobody uses."""
        await self._transport.close()

    def with_key(self, key: str) -> Operations:
        """The operations with another key, such as a capability."""
        return Operations(self._transport.with_key(key))

    # What the bot hears.

    async def record(self, *events: wire.Event) -> List[wire.ToldEvent]:
        """Tells what was said, edited, deleted or reacted, in order, and returns what came of
        each event. What was told before changes nothing, so events may be told again."""
        told: List[wire.ToldEvent] = []
        for i in range(0, len(events), BATCH):
            batch = [self._placed(e) for e in events[i : i + BATCH]]
            told += (await self.api.post_events({"events": batch}))["events"]
        return told

    async def message(self, channel: str, message: wire.Message) -> wire.ToldEvent:
        """Tells of one message, new or in a newer revision."""
        return (await self.record({"type": "message", "channel": channel, "message": message}))[0]

    async def raw(self, platform: str, *events: Dict[str, Any]) -> List[wire.ToldEvent]:
        """Tells what a platform sent, as it came: deliveries of Slack's Events API (platform
        slack), dispatches of Discord's gateway (discord). What says nothing that is kept is ignored."""
        told: List[wire.ToldEvent] = []
        for i in range(0, len(events), BATCH):
            batch = cast(List[wire.Event], list(events[i : i + BATCH]))  # which they are not, with a platform
            told += (await self.api.post_events({"events": batch}, platform=platform))["events"]
        return told

    async def file(
        self, channel: str, message: str, file: str, data: bytes, media_type: Optional[str] = None
    ) -> wire.StoredFile:
        """Gives the content of a file that a message shares, so that prompts and tools have it."""
        self._gives = True
        return await self.api.put_file(file, data, channel=channel, message=message, content_type=media_type, **self._place())

    def _placed(self, event: wire.Event) -> wire.Event:
        named = event["channel"]
        channel: Dict[str, Any] = {"id": named} if isinstance(named, str) else dict(named)
        for name, value in (("workspace", self.workspace), ("platform", self.platform)):
            if value and name not in channel:
                channel[name] = value
        return cast(wire.Event, dict(event, channel=channel))

    async def backfill(
        self,
        channel: str,
        *,
        fetch: Any,
        thread: Optional[str] = None,
        seconds: Optional[float] = None,
        workspace: Optional[str] = None,
        platform: Optional[str] = None,
    ) -> None:
        """Tells what was said before, a page at a time, so that contexts no longer lack it. All of it is
        there when this returns, or what could be read within some seconds: the rest goes on in the
        background. Where the same is being read already, this waits for that.

        fetch is called with each stretch of time that is missing, {"from": ..., "to": ...}, the newest
        first, and returns pages as POST /v1/history takes them: {"platform": "slack", "page": ...,
        "latest": ...} as the platform gave it and with the range that it was asked for, or
        {"messages": [...]}. Or fetch is the pages, whatever is missing.
        """
        place = {"workspace": workspace or self.workspace, "platform": platform or self.platform}
        self._filling = {at: job for at, job in self._filling.items() if not job.ended}
        at = (channel, thread, *place.values())
        job = self._filling.get(at)
        if job is None:
            job = self._filling[at] = Job(f"earshot backfill {channel}", self._fill, channel, thread, place, fetch)
        await job.wait(seconds)

    async def _fill(self, channel: str, thread: Optional[str], place: Dict[str, Any], fetch: Any) -> None:
        lists = [fetch]
        if callable(fetch):
            lists = [fetch(gap) for gap in await self._missing(channel, thread, place)]
        for pages in lists:
            async for page in each(pages):
                body = {**place, "channel": channel, "thread": thread, **page}
                await self.api.post_history(cast(wire.HistoryBody, {k: v for k, v in body.items() if v is not None}))

    async def _missing(self, channel: str, thread: Optional[str], place: Dict[str, Any]) -> List[wire.CoverageEntry]:
        """What is missing, the newest first; of a channel that nobody has told of, all."""
        try:
            return (await self.api.get_coverage(channel, thread=thread, **place))["missing"][::-1]
        except NotFound:
            return [{"state": "missing"}]

    # What it answers with.

    async def context(
        self,
        channel: str,
        anchor: str,
        *,
        file: Optional[Callable[..., Any]] = None,
        link: Optional[Callable[[Dict[str, Any]], Optional[str]]] = None,
        **options: Any,
    ) -> Context:
        """Makes the context of a message. Nothing of its conversation changes.

        options are the other fields of the request: policy, budget, instructions, zone, agent,
        conversation, message and so on.

        file is called with the id of a file that the prompt has and the sidecar has not, and
        returns its bytes, or None. Without it the model is promised no files, unless some were
        given with Earshot.file, or the option files is True. link returns where people find a
        message, for Context.sources.
        """
        body = self._asked(channel, anchor, options, file)
        await self.tools()
        context = Context(self, await self.api.make_context(body), place_of(body), file, link)
        await context.load()
        return context

    async def turn(
        self,
        channel: str,
        anchor: str,
        *,
        file: Optional[Callable[..., Any]] = None,
        link: Optional[Callable[[Dict[str, Any]], Optional[str]]] = None,
        **options: Any,
    ) -> Turn:
        """Opens a turn: makes the context of a message, to be committed with the reply. It
        claims the message: Conflict (code answered or answering) where somebody else has it,
        unless again=True insists. hold is for how many seconds it is held unless it is renewed.
        file and link are as for context.

        Used in a with statement, a turn is renewed by a heartbeat, and aborted at its end if it
        was not committed.
        """
        body = self._asked(channel, anchor, options, file)
        body["open"] = True
        await self.tools()
        once = os.urandom(12).hex()  # a call that is repeated because no answer came gets the turn, not a Conflict
        answer = await self.api.make_context(body, idempotency_key=once)
        turn = Turn(self, answer, place_of(body), file, link, body.get("hold"))
        try:
            await turn.load()
        except BaseException:
            await turn.abort()
            raise
        return turn

    async def answer(
        self,
        channel: str,
        anchor: str,
        ask: Callable[[Turn], Any],
        post: Optional[Callable[..., Any]] = None,
        find: Optional[Callable[[str], Any]] = None,
        *,
        backfill: Optional[Callable[[Turn], Any]] = None,
        claimed: Optional[Callable[[Turn], Any]] = None,
        tries: int = 3,
        hold: int = 60,
        **options: Any,
    ) -> Optional[str]:
        """Answers a message once: claims it, asks for a reply, posts it, and commits the turn.
        Returns the reply, or None if somebody else answers or has answered the message, or it
        was deleted; then the model is not asked, or nothing is posted.

        ask returns the reply: a string, or something with a text. What the turn was told of calls
        and usage (run, called, used) is committed with it.

        The claim is held by a heartbeat while ask and post run, and for hold seconds after a
        process died. Who calls answer meanwhile waits for that long. turn.stopped is set, and
        turn.state says why, when the question is deleted or edited, or somebody else has it;
        what ask raises then is ignored. An edited question is asked again, at most tries times;
        then Conflict (code changed) is raised.

        With post, the reply is posted first and then committed with the id that post returns, or
        the ids. post may take a second argument, a key that is the same for each attempt to answer
        this question: give it to the platform, so that it posts once (Discord's nonce) or so that
        the post can be found (Slack's metadata). find takes the key and returns the post that has
        it, {"id": ..., "text": ...} with its id or ids, or None if there is none: it is called after a process died
        while it posted. Without find, Interrupted is raised then and nothing is posted, unless
        again=True insists. An error of post is raised; since the post may have arrived, the claim
        is not given up: it runs out, and the next answer looks for the post.

        Without post, the turn is committed first, and the caller posts what is returned; if the
        conversation has gone on, ask is called again with the context as it is then, at most
        tries times.

        claimed is called once the message is claimed: from then on unfinished has it, should this process
        die. backfill is called with a turn whose prompt lacks history, such as to call Earshot.backfill;
        then the context is made anew, unless it returns False.
        """
        if tries < 1:
            raise ValueError("tries must be at least 1")
        turn = await self._claim(channel, anchor, hold, options)
        if turn is not None and claimed is not None:
            await outcome(claimed(turn))
        left = tries
        while left:
            left -= 1
            if turn is None:
                return None
            async with turn:
                found = await turn._arrived(find, options.get("again", False)) if post else None
                if found:
                    return await turn._finish(found["text"], found["id"])
                filled = False
                if backfill is not None and turn.missing:
                    filled = await outcome(backfill(turn)) is not False
                    backfill = None
                if filled:
                    left += 1  # the context is made anew, which is no try
                reply = None if filled else await turn._asked(ask)
                state = turn.state if reply is None else await turn._checked(hold, posting=post is not None)
                if state in ("cancelled", "lost"):
                    return None
                if state == "open" and reply is not None:
                    if post is None:
                        try:
                            await turn.commit(reply)
                            return reply
                        except Conflict as conflict:
                            if conflict.turn is None:
                                if conflict.code == "other_reply":
                                    raise  # what was committed is not what was answered here
                                return None
                            if not left:
                                await conflict.turn.abort()
                                raise
                            turn = conflict.turn
                            continue
                    turn.posting = True  # if post fails it may have arrived: the turn is not aborted
                    posted = await outcome(post(reply, turn.key) if takes_two(post) else post(reply))
                    return await turn._finish(reply, posted)
            try:
                turn = await self._claim(channel, anchor, hold, options) if left else None  # it was edited, or history was read
            except NotFound:
                return None  # and deleted since
        raise Conflict(409, "changed", "the question was edited each time that it was asked")

    async def _claim(self, channel: str, anchor: str, hold: int, options: Dict[str, Any]) -> Optional[Turn]:
        """Opens a turn, or returns None where the question is answered, or still held by
        somebody else after the time for which a process that died holds it."""
        until = time.monotonic() + hold + 5
        while True:
            try:
                return await self.turn(channel, anchor, **dict(options, hold=hold))
            except Conflict as conflict:
                if conflict.code not in ("answered", "answering"):
                    raise
                if conflict.code == "answered" or time.monotonic() >= until:
                    return None
                await self._transport.pause(max(0.1, min(conflict.retry_after, 1.0)))

    async def unfinished(self) -> List[wire.HeldTurn]:
        """The turns that this key opened and did not end, the newest first. Those whose state is
        expired were left by a process that died: answer their anchors when you start."""
        return (await self.api.list_open_turns())["turns"]

    # What was said.

    def channels(self) -> AsyncIterator[wire.ChannelInfo]:
        """The channels that the key reaches."""
        return _pages(lambda cursor: self.api.list_channels(cursor=cursor), "channels")

    def messages(
        self, channel: str, *, before: Optional[str] = None, after: Optional[str] = None
    ) -> AsyncIterator[wire.Message]:
        """The messages of a channel, from the newest to the oldest."""
        return _pages(
            lambda cursor: self.api.list_messages(channel, before=before, after=after, cursor=cursor, **self._place()),
            "messages",
            backwards=True,
        )

    def replies(self, channel: str, root: str) -> AsyncIterator[wire.Message]:
        """The replies of a thread, without its root, from the newest to the oldest."""
        return _pages(
            lambda cursor: self.api.get_thread(channel, root, cursor=cursor, **self._place()), "replies", backwards=True
        )

    def turns(
        self, *, channel: Optional[str] = None, agent: Optional[str] = None, state: Optional[List[Any]] = None
    ) -> AsyncIterator[wire.ListedTurn]:
        """Turns of the channels that the key reaches, from the newest to the oldest. state has
        the states that are wanted, such as ["done"]."""
        return _pages(
            lambda cursor: self.api.list_turns(
                channel=channel, agent=agent, state=state, cursor=cursor, **self._place()
            ),
            "turns",
        )

    async def search(self, channel: str, q: str, **options: Any) -> List[wire.Hit]:
        """What a search of a channel finds, the best first. options are author, from_, to, limit."""
        return (await self.api.search_channel(channel, q=q, **dict(self._place(), **options)))["hits"]

    def live(self, *, channel: Optional[str] = None, since: Optional[int] = None) -> AsyncIterator[ServerEvent]:
        """Changes of turns as they happen, until the sidecar ends the stream or is silent for
        the timeout. since is the id of the last event that was handled, as a number:
        nothing after it is missed."""
        return self.api.stream_turns(channel=channel, last_event_id=since, **self._place())

    # Parts for platforms.

    def slack(self, app: Any, *, tier: str = "internal", pages: int = 10) -> Slack:
        """The part for Slack, on an App of Bolt's. tier is "distributed" for an app that is sold outside of
        Slack's Marketplace; of history that is missing at most so many pages are read at once."""
        from .slack import Slack

        return Slack(self, app, tier=tier, pages=pages)

    def discord(self, client: Any, *, pages: int = 10) -> Discord:
        """The part for Discord, on a Client of discord.py's, which is asynchronous: of earshot.aio only."""
        from ..discord import Discord

        return Discord(cast(Any, self), client, pages=pages)

    # Conversations of the conversation API.

    async def conversation(self, conversation: wire.NewConversation) -> Conversation:
        """Creates a conversation, or returns the one that was created with the same
        idempotency_key."""
        data = (await self.api.create_conversation(conversation))["data"]
        return Conversation(self, data["conversation"], data["created"])

    def _place(self) -> Dict[str, Any]:
        return {"workspace": self.workspace, "platform": self.platform}

    def _asked(
        self, channel: str, anchor: str, options: Dict[str, Any], file: Optional[Callable[..., Any]]
    ) -> wire.ContextBody:
        body: Dict[str, Any] = {"channel": channel, "anchor": anchor}
        if file is None and not self._gives and not options.get("attach"):
            body["files"] = False  # nobody gives the model a file
        for name in ("workspace", "platform", "agent"):
            if getattr(self, name):
                body[name] = getattr(self, name)
        body.update((name, value) for name, value in options.items() if value is not None)
        return cast(wire.ContextBody, body)

    async def tools(self) -> List[wire.ToolInfo]:
        """The tools of a channel, described for a model: name, description, input_schema."""
        if self._tools is None:
            self._tools = (await self.api.list_tools())["tools"]
        return self._tools


class Conversation:
    """A conversation of the conversation API. data is all that the sidecar answered; created says
    whether this call created it, and not an earlier one with the same key."""

    def __init__(self, earshot: Earshot, data: wire.ChatConversation, created: bool) -> None:
        self.earshot = earshot
        self.data = data
        self.created = created

    def __repr__(self) -> str:
        return f"Conversation({self.id!r})"

    @property
    def id(self) -> str:
        """Its id."""
        return self.data["id"]

    @property
    def metadata(self) -> Dict[str, Any]:
        """Its metadata, as of the last call."""
        return self.data["metadata"]

    async def merge(self, **metadata: Any) -> None:
        """Merges JSON values into the metadata; None removes a key."""
        answer = await self.earshot.api.merge_conversation_metadata(self.id, {"metadata": metadata})
        self.data = answer["data"]["conversation"]

    async def post(self, message: wire.NewChatMessage) -> wire.ChatMessage:
        """Posts a message, or a newer text of the one with the same message_id."""
        return (await self.earshot.api.post_conversation_message(self.id, message))["data"]["message"]

    async def messages(self) -> AsyncIterator[wire.ChatMessage]:
        """Its messages, from the newest to the oldest."""
        cursor: Optional[str] = None
        while True:
            page = (await self.earshot.api.list_conversation_messages(self.id, limit=100, cursor=cursor))["data"]
            for message in reversed(page["messages"]):
                yield message
            cursor = page.get("next_cursor")
            if not cursor:
                return


async def _pages(get: Callable[[Optional[str]], Any], items: str, backwards: bool = False) -> AsyncIterator[Any]:
    """Yields what stands on all pages, each of them from its end if they go backwards."""
    cursor: Optional[str] = None
    while True:
        page = await get(cursor)
        for item in reversed(page[items]) if backwards else page[items]:
            yield item
        cursor = page.get("next")
        if not cursor:
            return
