"""Prompts, tools, replies and usage in the forms of the APIs of models. Nothing here waits."""

from __future__ import annotations

import base64
import importlib
import inspect
import json
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, cast

from ._generated import Entry, ResultMessage, ToolAnswer, ToolInfo, UsageJSON

Parts = Mapping[str, Dict[str, Any]]  # files as parts of a chat completion, by id


def chat(system: str, messages: List[ResultMessage], contents: Parts) -> List[Dict[str, Any]]:
    """A prompt as chat completions take it."""
    out: List[Dict[str, Any]] = [{"role": "system", "content": system}]
    for m in messages:
        one: Dict[str, Any] = {"role": m["role"], "content": m["text"]}
        files = m.get("media") or [] if m["role"] == "user" else []
        parts = [contents[id] for id in files if id in contents]
        if parts:
            one["content"] = [{"type": "text", "text": m["text"]}, *parts]
        calls = m.get("calls")
        if calls:
            one["tool_calls"] = [
                {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["args"]}} for c in calls
            ]
        if m["role"] == "tool":
            one["tool_call_id"] = m.get("call", "")
        out.append(one)
    return out


def anthropic(chat: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """A chat completion's messages, without the system text, as Anthropic's Messages API takes them."""
    out: List[Dict[str, Any]] = []
    for m in chat[1:]:
        role, content = ("assistant" if m["role"] == "assistant" else "user"), m["content"]
        blocks = [_block(p) for p in content] if isinstance(content, list) else []
        if m["role"] == "tool":
            blocks = [{"type": "tool_result", "tool_use_id": m["tool_call_id"], "content": content}]
        elif isinstance(content, str) and content:
            blocks = [{"type": "text", "text": content}]
        for c in m.get("tool_calls", []):
            arguments = _object(c["function"]["arguments"])
            blocks.append({"type": "tool_use", "id": c["id"], "name": c["function"]["name"], "input": arguments or {}})
        if out and out[-1]["role"] == role:
            out[-1]["content"] += blocks  # all results of one round belong into one message
        elif blocks:
            out.append({"role": role, "content": blocks})
    return out


def _block(part: Dict[str, Any]) -> Dict[str, Any]:
    """A part of a chat completion as a block of Anthropic's."""
    if part["type"] == "text":
        return part
    url = part.get("image_url", {}).get("url") or part.get("file", {}).get("file_data", "")
    kind, _, data = url[len("data:") :].partition(";base64,")
    if not data:
        return {"type": "text", "text": "[a recording, which this model cannot hear]"}
    source = {"type": "base64", "media_type": kind, "data": data}
    return {"type": "image" if part["type"] == "image_url" else "document", "source": source}


def part(kind: str, name: str, data: bytes) -> Dict[str, Any]:
    """A file as a part of a message of a chat completion."""
    encoded = base64.b64encode(data).decode()
    if kind.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{encoded}"}}
    if kind.startswith("audio/"):
        return {"type": "input_audio", "input_audio": {"data": encoded, "format": kind[6:]}}
    if kind.startswith("text/"):
        return {"type": "text", "text": name + ":\n" + data.decode("utf-8", "replace")}
    return {"type": "file", "file": {"filename": name, "file_data": f"data:{kind};base64,{encoded}"}}


def tools(format: Optional[str], list: Sequence[Any], call: Optional[Callable[..., Any]]) -> List[Any]:
    """Tools in the form that a library takes; call calls one, and may be asynchronous."""
    if format is None:
        return [dict(t) for t in list]
    if format == "openai":
        return [
            {
                "type": "function",
                "function": {"name": t["name"], "description": t["description"], "parameters": t["input_schema"]},
            }
            for t in list
        ]
    if format == "anthropic":
        return [{"name": t["name"], "description": t["description"], "input_schema": t["input_schema"]} for t in list]
    if format == "langchain":
        return [_langchain(t, call) for t in list]
    raise ValueError('tools are had for "openai", "anthropic" and "langchain"')


def _langchain(tool: ToolInfo, call: Any) -> Any:
    """A tool as LangChain and LangGraph take it: a StructuredTool, which is called as the turn's."""
    make = importlib.import_module("langchain_core.tools").StructuredTool

    def run(**args: Any) -> str:
        return text_of_answer(call(tool["name"], args))

    async def wait(**args: Any) -> str:
        return text_of_answer(await call(tool["name"], args))

    given: Dict[str, Any] = {"coroutine": wait} if inspect.iscoroutinefunction(call) else {"func": run}
    return make.from_function(
        name=tool["name"], description=tool["description"], args_schema=tool["input_schema"], **given
    )


def refused(error: str, remedy: str) -> ToolAnswer:
    """The answer to a call that cannot be made, as the sidecar's own refusals are."""
    return {"answer": {"error": error, "remedy": remedy}, "failed": True, "messages": []}


def arguments(args: Any) -> Optional[Dict[str, Any]]:
    """The arguments of a call, which models write as JSON; None if they are no object."""
    return _object(args or "{}") if isinstance(args, str) else args if isinstance(args, dict) else None


def _object(text: str) -> Optional[Dict[str, Any]]:
    try:
        out = json.loads(text)
    except ValueError:
        return None
    return out if isinstance(out, dict) else None


def text_of_answer(answer: Any) -> str:
    """What a tool answered, as text for a model; of tools of one's own whatever they return."""
    if isinstance(answer, str):
        return answer
    inner = answer["answer"] if isinstance(answer, dict) and "answer" in answer else answer
    return json.dumps(inner, ensure_ascii=False, default=str)


def text_of(reply: Any) -> str:
    """The text of a reply: a string, or something with a text."""
    if isinstance(reply, str):
        return reply
    text = reply.get("text") if isinstance(reply, dict) else getattr(reply, "text", None)
    if not isinstance(text, str):
        raise TypeError(f"a reply must be a string or have a text, and not be {type(reply).__name__}")
    return text


def called(id: str, name: str, args: Any, answer: Any) -> List[Entry]:
    """A call of a tool and its answer as entries of a turn."""
    return [asked("", [(id, name, args)]), answered(id, answer)]


def asked(text: str, calls: List[Tuple[str, str, Any]]) -> Entry:
    """The entry in which a model calls tools: their ids, names and arguments."""
    written = [
        {"id": id, "name": name, "args": args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)}
        for id, name, args in calls
    ]
    entry: Dict[str, Any] = {"role": "assistant", "calls": written}
    if text:
        entry["text"] = text
    return cast(Entry, entry)


def answered(id: str, answer: Any) -> Entry:
    """The entry with what a tool answered."""
    entry: Entry = {"role": "tool", "call": id, "text": text_of_answer(answer)}
    if isinstance(answer, dict) and answer.get("failed"):
        entry["failed"] = True
    return entry


class Rounds:
    """The messages of a tool loop in the form of one API: what the model is asked, what it said."""

    def __init__(self, format: str, chat: List[Dict[str, Any]], tools: List[Any]) -> None:
        if format not in ("openai", "anthropic"):
            raise ValueError('format must be "openai" or "anthropic"')
        self._openai = format == "openai"
        self._tools = tools
        self.request: Dict[str, Any] = {"messages": list(chat)}
        if not self._openai:
            self.request = {"messages": anthropic(chat), "system": chat[0]["content"]}

    def ask(self, last: bool) -> Dict[str, Any]:
        """What the model is asked; in the last round it has no tools."""
        messages = list(self.request["messages"])
        return dict(self.request, messages=messages, **({} if last or not self._tools else {"tools": self._tools}))

    def said(self, answer: Any) -> Tuple[str, List[Tuple[str, str, Any]], UsageJSON]:
        """Takes what the model answered: its text, its calls (id, name, arguments) and its usage."""
        out = answer.model_dump(exclude_none=True) if hasattr(answer, "model_dump") else answer
        if isinstance(out, str):
            out = {"role": "assistant", "content": out}
        message = out["choices"][0]["message"] if "choices" in out else out
        self.request["messages"].append({"role": "assistant", **{k: message[k] for k in _KEPT if message.get(k)}})
        content = message.get("content") or ""
        if self._openai:
            calls = [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls") or []]
            return content, calls, _openai_usage(out.get("usage") or {})
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        calls = [(b["id"], b["name"], b["input"]) for b in blocks if b["type"] == "tool_use"]
        text = "".join(b["text"] for b in blocks if b["type"] == "text")
        return text, calls, _anthropic_usage(out.get("usage") or {})

    def answer(self, answers: List[Tuple[str, Any]]) -> None:
        """Gives the model what its calls came to: their ids and answers, with the files that they have."""
        messages = self.request["messages"]
        files = [
            part(m["type"], m["name"], base64.b64decode(m["data"]))
            for _, a in answers
            if isinstance(a, dict)
            for m in a.get("media", [])
        ]
        if self._openai:
            messages += [{"role": "tool", "tool_call_id": id, "content": text_of_answer(a)} for id, a in answers]
            messages += [{"role": "user", "content": files}] if files else []
        else:
            results: List[Dict[str, Any]] = [
                {"type": "tool_result", "tool_use_id": id, "content": text_of_answer(a)} for id, a in answers
            ]
            messages.append({"role": "user", "content": results + [_block(f) for f in files]})


_KEPT = ("content", "tool_calls")  # of what a model said, what it can be told that it said


def _openai_usage(usage: Mapping[str, Any]) -> UsageJSON:
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    read, written = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
    return {"input": read - cached, "cache_read": cached, "output": written}


def _anthropic_usage(usage: Mapping[str, Any]) -> UsageJSON:
    return {
        "input": usage.get("input_tokens") or 0,
        "cache_read": usage.get("cache_read_input_tokens") or 0,
        "cache_write": usage.get("cache_creation_input_tokens") or 0,
        "output": usage.get("output_tokens") or 0,
    }


def added(one: UsageJSON, more: Mapping[str, Any]) -> UsageJSON:
    """The sum of two usages; what is 0 is left out."""
    names = ("input", "output", "cache_read", "cache_write")
    sums = {n: (one.get(n) or 0) + (more.get(n) or 0) for n in names}  # type: ignore[operator]
    return cast(UsageJSON, {n: v for n, v in sums.items() if v})


def split(text: str, most: int) -> List[str]:
    """Markdown in texts of at most so many characters, broken between paragraphs, lines or words; code blocks
    are closed and opened again."""
    out: List[str] = []
    fence, rest = "", text.strip()  # the line that opened the code block that the rest is in
    while rest:
        head = fence + "\n" if fence else ""
        if len(head) + len(rest) <= most:
            out.append(head + rest)
            break
        room = most - len(head) - 4  # for the fence that closes
        cuts = [rest[: room + 1].rfind(s) for s in ("\n\n", "\n", " ")]
        at = next((n for n in cuts if n > room / 2), room)
        for line in rest[:at].split("\n"):
            if line.startswith("```"):
                fence = "" if fence else line[:40]
        out.append(head + rest[:at] + ("\n```" if fence else ""))
        rest = rest[at + (rest[at] == "\n") :] if fence else rest[at:].lstrip()
    return out
