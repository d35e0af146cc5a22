"""What a call is and what its answer says, whatever carries it."""

from __future__ import annotations

import json
import urllib.parse
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ._errors import Unreachable, refusal

Query = Mapping[str, Any]


class ServerEvent(NamedTuple):
    """A server-sent event: its name, its data (JSON where it is JSON) and its id."""

    name: str
    data: Any
    id: str


class Address(NamedTuple):
    """Where a sidecar is."""

    https: bool
    host: str
    port: Optional[int]
    path: str


def address(url: str) -> Address:
    """Reads a URL, which may have no user, password, query or fragment."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("url must begin with http:// or https:// and name a host")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError("url must have no user, password, query or fragment")
    return Address(parts.scheme == "https", parts.hostname, parts.port, parts.path.rstrip("/"))


def quoted(part: object) -> str:
    """A part of a path, such as an id with slashes."""
    return urllib.parse.quote(str(part), safe="")


def joined(values: Optional[Sequence[str]]) -> Optional[str]:
    """A list as one parameter."""
    return None if values is None else ",".join(values)


def target(path: str, query: Optional[Query]) -> str:
    """A path with the parameters that are set; a list is several of them."""
    pairs = []
    for name, value in (query or {}).items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None:
                pairs.append((name, ("true" if one else "false") if isinstance(one, bool) else str(one)))
    return path + "?" + urllib.parse.urlencode(pairs) if pairs else path


def message(key: str, headers: Optional[Query], body: Any) -> Tuple[Dict[str, str], Optional[bytes]]:
    """The headers and the content of a request; body is bytes, or something that JSON can write."""
    bearer = key.strip()
    if not bearer.isascii() or not bearer.isprintable() or " " in bearer:
        raise ValueError("the key has a character that keys do not have")  # a library would show it
    send: Dict[str, str] = {"Accept": "application/json", "Authorization": "Bearer " + bearer}
    send.update({name: str(value) for name, value in (headers or {}).items() if value is not None})
    if isinstance(body, (bytes, bytearray)):
        send.setdefault("Content-Type", "application/octet-stream")
        return send, bytes(body)
    if body is None:
        return send, None
    send["Content-Type"] = "application/json"
    return send, json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def answer(status: int, headers: Any, raw: bytes) -> Any:
    """The JSON of an answer, the bytes of a file, None if it has none; raises what a refusal means."""
    out: Any = None
    if raw and "json" in (headers.get("Content-Type") or ""):
        try:
            out = json.loads(raw)
        except ValueError:
            raise Unreachable(0, "bad_answer", "the answer is not JSON") from None
    elif raw:
        out = raw
    if status >= 300:
        raise refusal(status, headers, out)
    return out


class Events:
    """Reads server-sent events line by line, as the HTML standard has them."""

    def __init__(self) -> None:
        self._name = ""
        self._data: List[str] = []
        self._last = ""

    def read(self, line: str) -> Optional[ServerEvent]:
        """Takes a line, and returns the event that it ends."""
        line = line.rstrip("\r\n")
        if not line:
            name, text = self._name or "message", "\n".join(self._data)
            ends, self._name, self._data = bool(self._data), "", []
            if not ends:
                return None
            try:
                return ServerEvent(name, json.loads(text), self._last)
            except ValueError:
                return ServerEvent(name, text, self._last)
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        elif field == "id":
            self._last = value
        return None


def unreachable(error: Exception, sent: bool = True, timeout: bool = False) -> Unreachable:
    """The error of a call that no answer came to; sent says whether it may have arrived."""
    kind = "timeout" if timeout or isinstance(error, TimeoutError) or "timed out" in str(error) else "unreachable"
    out = Unreachable(0, kind, f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
    out.sent = sent
    return out
