"""A context, and an open turn: what a model is sent, its tools, and the claim to a question."""

from __future__ import annotations

import inspect
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Type, cast

from .. import _generated as wire
from .. import _shapes as shapes
from .._errors import Conflict, EarshotError, Expired, Interrupted, Invalid, NotFound
from ._world import Event, Job, outcome

if TYPE_CHECKING:
    from ._client import Earshot

FINISHES = 50  # how often a posted reply is committed while its conversation goes on
ROUNDS = 8  # how often run asks a model


class Context:
    """What the model is to be sent for a message, and why.

    answer is all that the sidecar answered. contents has the files of the prompt, by id, as parts
    of a chat completion.
    """

    def __init__(
        self,
        earshot: Earshot,
        answer: wire.ContextAnswer,
        place: Optional[Dict[str, Any]] = None,
        file: Optional[Callable[..., Any]] = None,
        link: Optional[Callable[[Dict[str, Any]], Optional[str]]] = None,
    ) -> None:
        self.earshot = earshot
        self.answer = answer
        self.contents: Dict[str, Dict[str, Any]] = {}
        self._place = place or {}
        self._file = file
        self._link = link

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
        return shapes.chat(self.system, self.messages, self.contents)

    async def load(self) -> None:
        """Loads the files of the prompt into contents, as opening a context or a turn does. What the
        sidecar does not have is asked of file, and given to it."""
        for f in self.answer.get("files", []):
            try:
                kind = f.get("type", "") if f["stored"] else await self._given(f)
                if kind:
                    data = await self.earshot.api.get_file(f["id"], **self._place)
                    self.contents[f["id"]] = shapes.part(kind, f.get("name", f["id"]), data)
            except (Invalid, NotFound):
                pass  # no model reads it, or it is gone

    async def _given(self, f: wire.PromptFile) -> str:
        """Gives the sidecar a file; returns its media type, "" where there is none to give."""
        if self._file is None:
            return ""
        asked = (f["id"], f.get("message", ""))
        data = await outcome(self._file(*asked) if takes_two(self._file) else self._file(asked[0]))
        if data is None:
            return ""
        given = await self.earshot.api.put_file(
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
    def missing(self) -> List[str]:
        """What of the history nobody has told, as the prompt says it."""
        return [n["text"] for n in self.answer["notes"] if n["kind"] == "gap"]

    @property
    def capability(self) -> str:
        """A key for the tools of this channel up to this message; "" if there is none."""
        return self.answer.get("capability", "")

    @property
    def sources(self) -> List[Dict[str, Any]]:
        """The messages that the prompt shows, in their order, to be cited: id, section, and link where
        the platform has one. With the option sources they have author, time, thread and text."""
        shown: List[Dict[str, Any]] = [dict(source) for source in self.answer.get("sources", [])]
        if not shown:
            rows = [row for row in self.ledger if row["verdict"] != "out" or row["reason"] == "shown"]
            shown = [{"id": row["id"], "section": row["section"]} for row in rows]
        for source in shown:
            link = self._link(source) if self._link else None
            if link:
                source["link"] = link
        return shown

    # The tools of its channel, up to its message.

    def tools(self, format: Optional[str] = None) -> List[Any]:
        """What the model may look up, described for it: name, description, input_schema; or as a
        library takes it: "openai", "anthropic", or "langchain", whose tools are called as call does."""
        return shapes.tools(format, self.earshot._tools or [], self.call)

    async def call(self, name: str, args: Any) -> wire.ToolAnswer:
        """Calls a tool for the model, in this channel and up to this message. args are a dictionary,
        or JSON as the model wrote it. A tool that there is not, or arguments that do not fit, are
        answered as failed, with what to do instead."""
        names = [t["name"] for t in self.earshot._tools or []]
        if name not in names:
            return shapes.refused(f"there is no tool {name}", "call one of " + ", ".join(names))
        arguments = shapes.arguments(args)
        if arguments is None:
            return shapes.refused("the arguments are no JSON object", "write them as the tool's schema says")
        api = self.earshot.with_key(self.capability) if self.capability else self.earshot.api
        try:
            return await api.call_tool(name, arguments)
        except Invalid as error:
            return shapes.refused(error.detail, "write the arguments as the tool's schema says")


def place_of(body: wire.ContextBody) -> Dict[str, Any]:
    """Where the files of a context are, as the routes of files name it."""
    return {name: body.get(name) for name in ("channel", "workspace", "platform")}


def takes_two(function: Callable[..., Any]) -> bool:
    """Whether a function can be called with two arguments."""
    try:
        inspect.signature(function).bind("", "")
    except (TypeError, ValueError):
        return False
    return True


class Turn(Context):
    """An open turn: a context that waits for its reply, until commit, abort or its expiry. It
    holds the claim to its question; in a with statement a heartbeat renews it.

    key is the same for every turn for this question until it is answered. interrupted is set
    where an earlier holder was about to post and was not heard of again. state is what was heard
    last, mostly by the heartbeat; stopped is set once it is not "open": cancelled (the question
    was deleted), changed (it was edited), or lost (somebody else has it by now). entries are the
    calls of tools and their answers, usage is what the model used: commit takes them.
    """

    def __init__(
        self,
        earshot: Earshot,
        answer: wire.ContextAnswer,
        place: Optional[Dict[str, Any]] = None,
        file: Optional[Callable[..., Any]] = None,
        link: Optional[Callable[[Dict[str, Any]], Optional[str]]] = None,
        hold: Optional[int] = None,
    ) -> None:
        super().__init__(earshot, answer, place, file, link)
        self.id = answer["turn"]["id"]
        self.expires = answer["turn"]["expires"]
        self.key = answer["turn"]["key"]
        self.interrupted: Optional[wire.InterruptedTurn] = answer["turn"].get("interrupted")
        self.entries: List[wire.Entry] = []
        self.usage: wire.UsageJSON = {}
        self.ended = False
        self.posting = False  # whether it is left as it is, and not aborted, at the end of a with statement
        self.state = "open"
        self.stopped = Event()
        self._hold = hold
        self._beat: Optional[Job] = None

    async def __aenter__(self) -> Turn:
        if self._beat is None:
            self._beat = Job(f"earshot turn {self.id}", self._beats)
        return self

    async def _beats(self) -> None:
        """Renews the turn until it ends, and hears what becomes of its question."""
        wait = max(1, min(20, (self._hold or 900) // 3, int(self.earshot._transport.timeout / 2)))
        while not self.ended and self.state == "open":
            try:
                await self.renew(wait=wait)
            except (Conflict, NotFound):
                return
            except EarshotError:
                await self.earshot._transport.pause(1.0)  # the claim may run out meanwhile; the commit says so

    async def renew(
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
            at = await self.earshot.api.renew_turn(str(self.id), cast(wire.RenewBody, body))
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

    # What the model says and does.

    def called(self, id: str, name: str, args: Any, answer: Any) -> None:
        """Adds a call of a tool and its answer to what the turn commits."""
        self.entries += shapes.called(id, name, args, answer)

    def used(self, **usage: Optional[int]) -> None:
        """Adds to what the model used: input (not read from the cache), output, cache_read, cache_write."""
        self.usage = shapes.added(self.usage, usage)

    async def run(
        self,
        model: Callable[..., Any],
        *,
        format: str = "openai",
        rounds: int = ROUNDS,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> str:
        """Asks a model until it calls no more tools, and returns its text.

        model is called with messages and tools (of format "anthropic" with system too) and returns
        a chat completion or its message, or Anthropic's message:
        partial(OpenAI().chat.completions.create, model="…") is one. Calls, answers and usage are
        kept for the commit. tools are those of your own, beside the turn's: name, description,
        input_schema, and call, a function of the arguments. The last of the rounds is asked without tools; a turn that is stopped
        is asked no more.
        """
        own = {t["name"]: t for t in tools}
        infos = self.tools() + shapes.tools("anthropic", list(tools), None)
        loop = shapes.Rounds(format, self.chat, shapes.tools(format, infos, self.call))
        text = ""
        for left in range(rounds - 1, -1, -1):
            text, calls, usage = loop.said(await outcome(model(**loop.ask(last=not left))))
            self.used(**usage)
            if not calls or not left or self.stopped.is_set():
                break
            answers = [(id, await self._called(own.get(name), name, args)) for id, name, args in calls]
            loop.answer(answers)
            self.entries += [shapes.asked(text, calls), *(shapes.answered(id, answer) for id, answer in answers)]
        return text

    async def _called(self, own: Optional[Mapping[str, Any]], name: str, args: Any) -> Any:
        """Calls a tool of the caller's own, or of the turn's."""
        if own is None:
            return await self.call(name, args)
        arguments = shapes.arguments(args)
        if arguments is None:
            return shapes.refused("the arguments are no JSON object", "write them as the tool's schema says")
        return await outcome(own["call"](arguments))

    async def _asked(self, ask: Callable[[Turn], Any]) -> Optional[str]:
        """What ask replies; None if it failed since it was told to stop."""
        try:
            return shapes.text_of(await outcome(ask(self)))
        except Exception:
            if self.state == "open":
                raise
            return None

    async def _checked(self, hold: int, *, posting: bool) -> str:
        """The state after the model was asked."""
        try:
            return (await self.renew(hold=hold, posting=posting))["state"]
        except (Conflict, NotFound):
            return self.state

    async def _arrived(self, find: Optional[Callable[[str], Any]], again: bool = False) -> Optional[Dict[str, str]]:
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
        return cast(Optional[Dict[str, str]], await outcome(find(self.key)))

    async def _finish(self, text: str, posted: Any) -> str:
        """Commits what is posted, also where the conversation has gone on meanwhile. The turn is
        never aborted, so that whoever comes next looks for the post."""
        turn, ids = self, [posted] if isinstance(posted, str) else posted or None
        kept = {"entries": self.entries or None, "usage": self.usage or None}
        for left in range(FINISHES - 1, -1, -1):
            try:
                await turn.commit(text, ids=ids, **kept)  # type: ignore[arg-type]
                break
            except Expired:
                await turn.renew()  # a Conflict where somebody else has answered: the caller should know of two posts
                await turn.commit(text, ids=ids, **kept)  # type: ignore[arg-type]
                break
            except Conflict as conflict:
                if conflict.code == "other_reply":
                    raise
                if conflict.turn is None:
                    break  # answered or deleted meanwhile
                turn = conflict.turn
                if not left:
                    raise
                await self.earshot._transport.pause(0.01 * (FINISHES - left))
        self.ended = True
        return text

    # How it ends.

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        ended, self.ended = self.ended, True  # the heartbeat stops
        if ended or self.posting:
            return
        try:
            await self.abort()
        except NotFound:
            pass  # its channel was erased
        except EarshotError:
            if error is None:
                raise  # else the first error is the one to tell; the turn expires by itself

    async def commit(
        self,
        text: str,
        *,
        ids: Optional[Sequence[str]] = None,
        time: Optional[str] = None,
        usage: Optional[wire.UsageJSON] = None,
        entries: Optional[List[wire.Entry]] = None,
        metadata: Optional[Dict[str, Optional[str]]] = None,
    ) -> wire.CommittedTurn:
        """Ends the turn with its reply; committing it again changes nothing.

        ids are those of the messages that the reply became, and time is when; it is recorded as
        the agent's. usage is what the model used; entries are the calls of tools and their
        answers; without them those that the turn has count. Raises Conflict if the conversation has
        gone on since the turn was opened; its turn is one that was opened anew, or None if the
        message was answered or deleted. Called again with another text, ids or usage it raises
        Conflict too; its reply is what is stored.
        """
        reply: Dict[str, Any] = {"text": text}
        if ids:
            reply["ids"] = list(ids)
        if time:
            reply["time"] = time
        body: Dict[str, Any] = {"reply": reply}
        usage = self.usage or None if usage is None else usage
        entries = self.entries or None if entries is None else entries
        for name, value in (("usage", usage), ("entries", entries), ("metadata", metadata)):
            if value is not None:
                body[name] = value
        try:
            done = await self.earshot.api.commit_turn(str(self.id), cast(wire.CommitBody, body))
        except Conflict as conflict:
            self.ended = True
            answer = conflict.answer if isinstance(conflict.answer, dict) else {}
            anew = answer.get("context")
            if anew and "turn" in anew:  # else the question has been answered
                conflict.turn = Turn(self.earshot, anew, self._place, self._file, self._link, self._hold)
                await conflict.turn._loaded()
            raise
        self.ended = True
        return done

    async def _loaded(self) -> None:
        """Loads the files of a turn that was opened anew; the conflict is the error to tell."""
        try:
            await self.load()
        except EarshotError:
            pass  # the prompt goes without the files

    async def abort(self) -> None:
        """Ends the turn without a reply. Nothing of its conversation changes."""
        await self.earshot.api.abort_turn(str(self.id))
        self.ended = True
