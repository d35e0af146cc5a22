"""The front of the client: what is written by hand above the generated operations."""

from __future__ import annotations

import base64
import inspect
import os
import threading
import time
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Type, Union, cast

from . import _generated as wire
from ._errors import Conflict, EarshotError, Expired, Interrupted, Invalid, NotFound
from ._generated import Operations
from ._transport import ServerEvent, Transport

BATCH = 1000  # events in one call, as the API allows
FINISHES = 50  # how often a posted reply is committed while its conversation goes on


class Earshot:
    """A sidecar, called with a key.

    url and key default to EARSHOT_URL and EARSHOT_KEY; key may be a function that returns one,
    such as a JSON Web Token that is renewed. workspace, platform and agent are used for calls
    that do not name their own; without them the sidecar takes the only one that fits. timeout
    is in seconds. Every method raises EarshotError or a class below it. Safe for use by several
    threads.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        key: Union[str, Callable[[], str], None] = None,
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
        self._gives = False  # it has given the content of a file

    def __repr__(self) -> str:
        return f"Earshot({self._transport.url!r})"

    def with_key(self, key: str) -> Operations:
        """The operations with another key, such as a capability."""
        return Operations(self._transport.with_key(key))

    # What the bot hears.

    def record(self, *events: wire.Event) -> List[wire.ToldEvent]:
        """Tells what was said, edited, deleted or reacted, in order, and returns what came of
        each event. What was told before changes nothing, so events may be told again."""
        told: List[wire.ToldEvent] = []
        for i in range(0, len(events), BATCH):
            batch = [self._placed(e) for e in events[i : i + BATCH]]
            told += self.api.post_events({"events": batch})["events"]
        return told

    def message(self, channel: str, message: wire.Message) -> wire.ToldEvent:
        """Tells of one message, new or in a newer revision."""
        return self.record({"type": "message", "channel": channel, "message": message})[0]

    def raw(self, platform: str, *events: Dict[str, Any]) -> List[wire.ToldEvent]:
        """Tells what a platform sent, as it came: deliveries of Slack's Events API (platform
        slack). What says nothing that is kept is ignored."""
        told: List[wire.ToldEvent] = []
        for i in range(0, len(events), BATCH):
            told += self.api.post_events({"events": list(events[i : i + BATCH])}, platform=platform)["events"]
        return told

    def file(
        self, channel: str, message: str, file: str, data: bytes, media_type: Optional[str] = None
    ) -> wire.StoredFile:
        """Gives the content of a file that a message shares, so that prompts and tools have it."""
        self._gives = True
        return self.api.put_file(file, data, channel=channel, message=message, content_type=media_type, **self._place())

    def _placed(self, event: wire.Event) -> wire.Event:
        named = event["channel"]
        channel: Dict[str, Any] = {"id": named} if isinstance(named, str) else dict(named)
        for name, value in (("workspace", self.workspace), ("platform", self.platform)):
            if value and name not in channel:
                channel[name] = value
        return cast(wire.Event, dict(event, channel=channel))

    # What it answers with.

    def context(
        self, channel: str, anchor: str, *, file: Optional[Callable[[str], Optional[bytes]]] = None, **options: Any
    ) -> Context:
        """Makes the context of a message. Nothing of its conversation changes.

        options are the other fields of the request: policy, budget, instructions, zone, agent,
        conversation, message and so on.

        file is called with the id of a file that the prompt has and the sidecar has not, and
        returns its bytes, or None. Without it the model is promised no files, unless some were
        given with Earshot.file, or the option files is True.
        """
        body = self._asked(channel, anchor, options, file)
        return Context(self, self.api.make_context(body), _place_of(body), file)

    def turn(
        self, channel: str, anchor: str, *, file: Optional[Callable[[str], Optional[bytes]]] = None, **options: Any
    ) -> Turn:
        """Opens a turn: makes the context of a message, to be committed with the reply. It
        claims the message: Conflict (code answered or answering) where somebody else has it,
        unless again=True insists. hold is for how many seconds it is held unless it is renewed.
        file is as for context.

        Used in a with statement, a turn is renewed by a heartbeat, and aborted at its end if it
        was not committed.
        """
        body = self._asked(channel, anchor, options, file)
        body["open"] = True
        once = os.urandom(12).hex()  # a call that is repeated because no answer came gets the turn, not a Conflict
        answer = self.api.make_context(body, idempotency_key=once)
        return Turn(self, answer, _place_of(body), file, body.get("hold"))

    def answer(
        self,
        channel: str,
        anchor: str,
        ask: Callable[[Turn], str],
        post: Optional[Callable[..., Optional[str]]] = None,
        find: Optional[Callable[[str], Optional[Dict[str, str]]]] = None,
        *,
        tries: int = 3,
        hold: int = 60,
        **options: Any,
    ) -> Optional[str]:
        """Answers a message once: claims it, asks for a reply, posts it, and commits the turn.
        Returns the reply, or None if somebody else answers or has answered the message, or it
        was deleted; then the model is not asked, or nothing is posted.

        The claim is held by a heartbeat while ask and post run, and for hold seconds after a
        process died. Who calls answer meanwhile waits for that long. turn.stopped is set, and
        turn.state says why, when the question is deleted or edited, or somebody else has it;
        what ask raises then is ignored. An edited question is asked again, at most tries times;
        then Conflict (code changed) is raised.

        With post, the reply is posted first and then committed with the id that post returns.
        post may take a second argument, a key that is the same for each attempt to answer this
        question: give it to the platform, so that it posts once (Discord's nonce) or so that the
        post can be found (Slack's metadata). find takes the key and returns the post that has
        it, {"id": ..., "text": ...}, or None if there is none: it is called after a process died
        while it posted. Without find, Interrupted is raised then and nothing is posted, unless
        again=True insists. An error of post is raised; since the post may have arrived, the claim
        is not given up: it runs out, and the next answer looks for the post.

        Without post, the turn is committed first, and the caller posts what is returned; if the
        conversation has gone on, ask is called again with the context as it is then, at most
        tries times.
        """
        if tries < 1:
            raise ValueError("tries must be at least 1")
        turn = self._claim(channel, anchor, hold, options)
        for left in range(tries - 1, -1, -1):
            if turn is None:
                return None
            with turn:
                found = turn._arrived(find, options.get("again")) if post else None
                if found:
                    return turn._finish(found["text"], [found["id"]])
                reply = turn._asked(ask)
                state = turn.state if reply is None else turn._checked(hold, posting=post is not None)
                if state in ("cancelled", "lost"):
                    return None
                if state == "open" and reply is not None:
                    if post is None:
                        try:
                            turn.commit(reply)
                            return reply
                        except Conflict as conflict:
                            if conflict.turn is None:
                                if conflict.code == "other_reply":
                                    raise  # what was committed is not what was answered here
                                return None
                            if not left:
                                conflict.turn.abort()
                                raise
                            turn = conflict.turn
                            continue
                    turn.posting = True  # if post fails it may have arrived: the turn is not aborted
                    posted = post(reply, turn.key) if _takes_two(post) else post(reply)
                    return turn._finish(reply, [posted] if posted else None)
            try:
                turn = self._claim(channel, anchor, hold, options) if left else None  # the question was edited
            except NotFound:
                return None  # and deleted since
        raise Conflict(409, "changed", "the question was edited each time that it was asked")

    def _claim(self, channel: str, anchor: str, hold: int, options: Dict[str, Any]) -> Optional[Turn]:
        """Opens a turn, or returns None where the question is answered, or still held by
        somebody else after the time for which a process that died holds it."""
        until = time.monotonic() + hold + 5
        while True:
            try:
                return self.turn(channel, anchor, **dict(options, hold=hold))
            except Conflict as conflict:
                if conflict.code not in ("answered", "answering"):
                    raise
                if conflict.code == "answered" or time.monotonic() >= until:
                    return None
                self._transport.pause(max(0.1, min(conflict.retry_after, 1.0)))

    def unfinished(self) -> List[wire.HeldTurn]:
        """The turns that this key opened and did not end, the newest first. Those whose state is
        expired were left by a process that died: answer their anchors when you start."""
        return self.api.list_open_turns()["turns"]

    # What was said.

    def channels(self) -> Iterator[wire.ChannelInfo]:
        """The channels that the key reaches."""
        return _pages(lambda cursor: self.api.list_channels(cursor=cursor), "channels")

    def messages(
        self, channel: str, *, before: Optional[str] = None, after: Optional[str] = None
    ) -> Iterator[wire.Message]:
        """The messages of a channel, from the newest to the oldest."""
        return _pages(
            lambda cursor: self.api.list_messages(channel, before=before, after=after, cursor=cursor, **self._place()),
            "messages",
            backwards=True,
        )

    def replies(self, channel: str, root: str) -> Iterator[wire.Message]:
        """The replies of a thread, without its root, from the newest to the oldest."""
        return _pages(
            lambda cursor: self.api.get_thread(channel, root, cursor=cursor, **self._place()), "replies", backwards=True
        )

    def turns(
        self, *, channel: Optional[str] = None, agent: Optional[str] = None, state: Optional[List[Any]] = None
    ) -> Iterator[wire.ListedTurn]:
        """Turns of the channels that the key reaches, from the newest to the oldest. state has
        the states that are wanted, such as ["done"]."""
        return _pages(
            lambda cursor: self.api.list_turns(
                channel=channel, agent=agent, state=state, cursor=cursor, **self._place()
            ),
            "turns",
        )

    def search(self, channel: str, q: str, **options: Any) -> List[wire.Hit]:
        """What a search of a channel finds, the best first. options are author, from_, to, limit."""
        return self.api.search_channel(channel, q=q, **dict(self._place(), **options))["hits"]

    def live(self, *, channel: Optional[str] = None, since: Optional[int] = None) -> Iterator[ServerEvent]:
        """Changes of turns as they happen, until the sidecar ends the stream or is silent for
        the timeout. since is the id of the last event that was handled, as a number:
        nothing after it is missed."""
        return self.api.stream_turns(channel=channel, last_event_id=since, **self._place())

    # Conversations of the conversation API.

    def conversation(self, conversation: wire.NewConversation) -> Conversation:
        """Creates a conversation, or returns the one that was created with the same
        idempotency_key."""
        data = self.api.create_conversation(conversation)["data"]
        return Conversation(self, data["conversation"], data["created"])

    def _place(self) -> Dict[str, Any]:
        return {"workspace": self.workspace, "platform": self.platform}

    def _asked(
        self, channel: str, anchor: str, options: Dict[str, Any], file: Optional[Callable[[str], Optional[bytes]]]
    ) -> wire.ContextBody:
        body: Dict[str, Any] = {"channel": channel, "anchor": anchor}
        if file is None and not self._gives and not options.get("attach"):
            body["files"] = False  # nobody gives the model a file
        for name in ("workspace", "platform", "agent"):
            if getattr(self, name):
                body[name] = getattr(self, name)
        body.update((name, value) for name, value in options.items() if value is not None)
        return cast(wire.ContextBody, body)

    @property
    def tools(self) -> List[wire.ToolInfo]:
        """The tools of a channel, described for a model: name, description, input_schema."""
        if self._tools is None:
            self._tools = self.api.list_tools()["tools"]
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
    def metadata(self) -> Dict[str, Union[str, float, bool]]:
        """Its metadata, as of the last call."""
        return self.data["metadata"]

    def merge(self, **metadata: Union[str, float, bool, None]) -> None:
        """Merges into the metadata; None removes a key."""
        answer = self.earshot.api.merge_conversation_metadata(self.id, {"metadata": metadata})
        self.data = answer["data"]["conversation"]

    def post(self, message: wire.NewChatMessage) -> wire.ChatMessage:
        """Posts a message, or a newer text of the one with the same message_id."""
        return self.earshot.api.post_conversation_message(self.id, message)["data"]["message"]

    def messages(self) -> Iterator[wire.ChatMessage]:
        """Its messages, from the newest to the oldest."""
        cursor: Optional[str] = None
        while True:
            page = self.earshot.api.list_conversation_messages(self.id, limit=100, cursor=cursor)["data"]
            yield from reversed(page["messages"])
            cursor = page.get("next_cursor")
            if not cursor:
                return


def _takes_two(post: Callable[..., Any]) -> bool:
    """Whether a function can be called with two arguments."""
    try:
        inspect.signature(post).bind("", "")
    except (TypeError, ValueError):
        return False
    return True


def _pages(get: Callable[[Optional[str]], Any], items: str, backwards: bool = False) -> Iterator[Any]:
    """Yields what stands on all pages, each of them from its end if they go backwards."""
    cursor: Optional[str] = None
    while True:
        page = get(cursor)
        yield from reversed(page[items]) if backwards else page[items]
        cursor = page.get("next")
        if not cursor:
            return


class Context:
    """What the model is to be sent for a message, and why.

    answer is all that the sidecar answered.
    """

    def __init__(
        self,
        earshot: Earshot,
        answer: wire.ContextAnswer,
        place: Optional[Dict[str, Any]] = None,
        file: Optional[Callable[[str], Optional[bytes]]] = None,
    ) -> None:
        self.earshot = earshot
        self.answer = answer
        self._place = place or {}
        self._file = file
        self._contents: Optional[Dict[str, Dict[str, Any]]] = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.answer['tokens']['total']} tokens)"

    @property
    def system(self) -> str:
        """The system text: how to read the prompt, then the operator's instructions."""
        return self.answer["prompt"]["system"]

    @property
    def messages(self) -> List[wire.ResultMessage]:
        """The prompt: entries with role (user, assistant or tool) and text."""
        return self.answer["prompt"]["messages"]

    @property
    def prompt(self) -> str:
        """The texts of the prompt in one, without the system text."""
        return "\n\n".join(m["text"] for m in self.messages)

    @property
    def chat(self) -> List[Dict[str, Any]]:
        """System text and prompt as chat completions take them (OpenAI's API and those like it).
        Files whose content is here are parts of the messages that have them."""
        out: List[Dict[str, Any]] = [{"role": "system", "content": self.system}]
        for m in self.messages:
            one: Dict[str, Any] = {"role": m["role"], "content": m["text"]}
            files = m.get("media") or [] if m["role"] == "user" else []
            parts = [self.contents[id] for id in files if id in self.contents]
            if parts:
                one["content"] = [{"type": "text", "text": m["text"]}, *parts]
            calls = m.get("calls")
            if calls:
                one["tool_calls"] = [
                    {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["args"]}}
                    for c in calls
                ]
            if m["role"] == "tool":
                one["tool_call_id"] = m.get("call", "")
            out.append(one)
        return out

    @property
    def contents(self) -> Dict[str, Dict[str, Any]]:
        """The files of the prompt, by id, as parts of a chat completion. What the sidecar does not
        have is asked of file, and given to it."""
        if self._contents is None:
            contents: Dict[str, Dict[str, Any]] = {}
            for f in self.answer.get("files", []):
                try:
                    kind = f.get("type", "") if f["stored"] else self._given(f)
                    if kind:
                        data = self.earshot.api.get_file(f["id"], **self._place)
                        contents[f["id"]] = _part(kind, f.get("name", f["id"]), data)
                except (Invalid, NotFound):
                    pass  # no model reads it, or it is gone
            self._contents = contents
        return self._contents

    def _given(self, f: wire.PromptFile) -> str:
        """Gives the sidecar a file; returns its media type, "" where there is none to give."""
        data = self._file(f["id"]) if self._file else None
        if data is None:
            return ""
        given = self.earshot.api.put_file(
            f["id"], data, message=f.get("message", ""), content_type=f.get("type"), **self._place
        )
        return given["type"]

    @property
    def tokens(self) -> wire.ResultTokens:
        """How many tokens the prompt has, by section, and the budget."""
        return self.answer["tokens"]

    @property
    def ledger(self) -> List[wire.LedgerRow]:
        """For every message why the model sees it or not."""
        return self.answer.get("ledger", [])

    @property
    def capability(self) -> str:
        """A key for the tools of this channel up to this message; "" if there is none."""
        return self.answer.get("capability", "")

    @property
    def tools(self) -> List[wire.ToolInfo]:
        """What the model may look up, described for it: name, description, input_schema."""
        return self.earshot.tools

    def call(self, name: str, args: Dict[str, Any]) -> wire.ToolAnswer:
        """Calls a tool for the model, in this channel and up to this message."""
        api = self.earshot.with_key(self.capability) if self.capability else self.earshot.api
        return api.call_tool(name, args)


def _place_of(body: wire.ContextBody) -> Dict[str, Any]:
    """Where the files of a context are, as the routes of files name it."""
    return {name: body.get(name) for name in ("channel", "workspace", "platform")}


def _part(kind: str, name: str, data: bytes) -> Dict[str, Any]:
    """A file as a part of a message of a chat completion."""
    encoded = base64.b64encode(data).decode()
    if kind.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{encoded}"}}
    if kind.startswith("audio/"):
        return {"type": "input_audio", "input_audio": {"data": encoded, "format": kind[6:]}}
    if kind.startswith("text/"):
        return {"type": "text", "text": name + ":\n" + data.decode("utf-8", "replace")}
    return {"type": "file", "file": {"filename": name, "file_data": f"data:{kind};base64,{encoded}"}}


class Turn(Context):
    """An open turn: a context that waits for its reply, until commit, abort or its expiry. It
    holds the claim to its question; in a with statement a heartbeat renews it.

    key is the same for every turn for this question until it is answered. interrupted is set
    where an earlier holder was about to post and was not heard of again. state is what was heard
    last, mostly by the heartbeat; stopped is set once it is not "open": cancelled (the question
    was deleted), changed (it was edited), or lost (somebody else has it by now).
    """

    def __init__(
        self,
        earshot: Earshot,
        answer: wire.ContextAnswer,
        place: Optional[Dict[str, Any]] = None,
        file: Optional[Callable[[str], Optional[bytes]]] = None,
        hold: Optional[int] = None,
    ) -> None:
        super().__init__(earshot, answer, place, file)
        self.id = answer["turn"]["id"]
        self.expires = answer["turn"]["expires"]
        self.key = answer["turn"]["key"]
        self.interrupted: Optional[wire.InterruptedTurn] = answer["turn"].get("interrupted")
        self.ended = False
        self.posting = False  # whether it is left as it is, and not aborted, at the end of a with statement
        self.state = "open"
        self.stopped = threading.Event()
        self._hold = hold
        self._beat: Optional[threading.Thread] = None

    def __enter__(self) -> Turn:
        if self._beat is None:
            self._beat = threading.Thread(target=self._beats, name=f"earshot turn {self.id}", daemon=True)
            self._beat.start()
        return self

    def _beats(self) -> None:
        """Renews the turn until it ends, and hears what becomes of its question."""
        wait = max(1, min(20, (self._hold or 900) // 3, int(self.earshot._transport.timeout / 2)))
        while not self.ended and self.state == "open":
            try:
                self.renew(wait=wait)
            except (Conflict, NotFound):
                return
            except EarshotError:
                self.earshot._transport.pause(1.0)  # the claim may run out meanwhile; the commit says so

    def renew(
        self, *, hold: Optional[int] = None, posting: bool = False, wait: Optional[int] = None
    ) -> wire.HeldTurn:
        """Keeps the turn for hold seconds from now, and returns what has become of its question;
        with wait only once something has, or after that many seconds. posting notes that the
        reply is about to be posted. Raises Conflict if somebody else has the question by now."""
        body: Dict[str, Any] = {"posting": posting}
        for name, value in (("hold", hold or self._hold), ("wait", wait)):
            if value:
                body[name] = value
        try:
            at = self.earshot.api.renew_turn(str(self.id), cast(wire.RenewBody, body))
        except Conflict:
            self._heard("lost")
            raise
        except NotFound:  # its channel was erased
            self._heard("cancelled")
            raise
        self.expires = at["expires"]
        self._heard(at["state"])
        return at

    def _heard(self, state: str) -> None:
        if state in ("cancelled", "changed", "lost"):
            self.state = state
            self.stopped.set()

    def _asked(self, ask: Callable[[Turn], str]) -> Optional[str]:
        """What ask replies; None if it failed since it was told to stop."""
        try:
            return ask(self)
        except Exception:
            if self.state == "open":
                raise
            return None

    def _checked(self, hold: int, *, posting: bool) -> str:
        """The state after the model was asked."""
        try:
            return self.renew(hold=hold, posting=posting)["state"]
        except (Conflict, NotFound):
            return self.state

    def _arrived(
        self, find: Optional[Callable[[str], Optional[Dict[str, str]]]], again: bool = False
    ) -> Optional[Dict[str, str]]:
        """The post of an earlier holder who died, where there is one."""
        if self.interrupted is None or (again and find is None):
            return None
        if find is None:
            raise Interrupted(
                409,
                "interrupted",
                f"turn {self.interrupted['id']} was about to post its answer and nobody can say whether it arrived;"
                " pass find, or look yourself and answer with again=True",
            )
        return find(self.key)

    def _finish(self, text: str, ids: Optional[List[str]]) -> str:
        """Commits what is posted, also where the conversation has gone on meanwhile. The turn is
        never aborted, so that whoever comes next looks for the post."""
        turn = self
        for left in range(FINISHES - 1, -1, -1):
            try:
                turn.commit(text, ids=ids)
                break
            except Expired:
                turn.renew()  # a Conflict where somebody else has answered: the caller should know of two posts
                turn.commit(text, ids=ids)
                break
            except Conflict as conflict:
                if conflict.code == "other_reply":
                    raise
                if conflict.turn is None:
                    break  # answered or deleted meanwhile
                turn = conflict.turn
                if not left:
                    raise
                self.earshot._transport.pause(0.01 * (FINISHES - left))
        self.ended = True
        return text

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        ended, self.ended = self.ended, True  # the heartbeat stops
        if ended or self.posting:
            return
        try:
            self.abort()
        except NotFound:
            pass  # its channel was erased
        except EarshotError:
            if error is None:
                raise  # else the first error is the one to tell; the turn expires by itself

    def commit(
        self,
        text: str,
        *,
        ids: Optional[Sequence[str]] = None,
        time: Optional[str] = None,
        usage: Optional[wire.UsageJSON] = None,
        entries: Optional[List[wire.Entry]] = None,
        metadata: Optional[Dict[str, Optional[str]]] = None,
    ) -> wire.CommittedTurn:
        """Ends the turn with its reply; the conversation moves on exactly once, however often
        this is called.

        ids has the id of the message that the reply became, and time is when; it is recorded as
        the agent's. usage is what the model used; entries are the calls of tools and their
        answers. Raises Conflict if the conversation has gone on since the turn was opened; its
        turn is one that was opened anew, or None if the message was answered or deleted. Called
        again with another text, ids or usage it raises Conflict too; its reply is what is stored.
        """
        reply: Dict[str, Any] = {"text": text}
        if ids:
            reply["ids"] = list(ids)
        if time:
            reply["time"] = time
        body: Dict[str, Any] = {"reply": reply}
        for name, value in (("usage", usage), ("entries", entries), ("metadata", metadata)):
            if value is not None:
                body[name] = value
        try:
            done = self.earshot.api.commit_turn(str(self.id), cast(wire.CommitBody, body))
        except Conflict as conflict:
            self.ended = True
            answer = conflict.answer if isinstance(conflict.answer, dict) else {}
            anew = answer.get("context")
            if anew and "turn" in anew:  # else the question has been answered
                conflict.turn = Turn(self.earshot, anew, self._place, self._file, self._hold)
            raise
        self.ended = True
        return done

    def abort(self) -> None:
        """Ends the turn without a reply. Nothing of its conversation changes."""
        self.earshot.api.abort_turn(str(self.id))
        self.ended = True
