"""What can go wrong with a call."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Type


class EarshotError(Exception):
    """A call that was refused, or that did not come through.

    status is the HTTP status, 0 if there was no answer. code is for programs, such as
    "read_only"; detail is for people; fields has a sentence for each field of the request
    that is wrong. request_id finds the call in the sidecar's log. answer is the body.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        request_id: str = "",
        fields: Optional[List[str]] = None,
        answer: Any = None,
    ) -> None:
        self.status = status
        self.code = code
        self.detail = detail
        self.request_id = request_id
        self.fields = fields or []
        self.answer = answer
        text = "; ".join(self.fields) or detail or code
        super().__init__(f"{status} {code}: {text}" if status else text)


class Invalid(EarshotError):
    """400: the request cannot be understood; detail and fields say where."""


class Unauthenticated(EarshotError):
    """401: the key is missing, unknown, revoked or expired."""


class Forbidden(EarshotError):
    """403: the key may not do this to what it sees, such as writing with a read-only key."""


class NotFound(EarshotError):
    """404: there is no such thing, or none that the key may see."""


class Conflict(EarshotError):
    """409: something has changed since, or the question is somebody else's (code answered or
    answering; then retry_after says in how many seconds it may be free). Where a turn was
    committed, turn is the turn that was opened anew, with the context as it is now; else None.
    Where the question was answered, or the turn committed with another reply before (code
    other_reply), reply is that one: its text, ids and usage."""

    turn: Any = None
    reply: Any = None
    retry_after: float = 0.0


class Interrupted(EarshotError):
    """An earlier process died while it posted the answer to this question, and nobody can say
    whether the post arrived: there is no find. Nothing was posted now. Look for the answer,
    then answer with again=True, or leave it."""


class Expired(EarshotError):
    """410: the time of an open turn is over."""


class RateLimited(EarshotError):
    """429: too many calls, still after the retries. retry_after is in seconds."""

    retry_after: float = 0.0


class Unavailable(EarshotError):
    """502, 503 or 504: the sidecar cannot answer right now."""


class Unreachable(EarshotError):
    """There was no answer. The call may have been carried out, unless sent is False."""

    sent: bool = True


_BY_STATUS: Dict[int, Type[EarshotError]] = {
    400: Invalid,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Expired,
    429: RateLimited,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def refusal(status: int, headers: Mapping[str, str], answer: Any) -> EarshotError:
    """The error that an answer means: problem details, or the conversation API's envelope."""
    body: Dict[str, Any] = answer if isinstance(answer, dict) else {}
    fields = body.get("fields")
    error = _BY_STATUS.get(status, EarshotError)(
        status,
        str(body.get("code") or "http"),
        str(body.get("detail") or body.get("error") or body.get("title") or ""),
        request_id=headers.get("X-Request-Id") or "",
        fields=[str(f) for f in fields] if isinstance(fields, list) else None,
        answer=answer,
    )
    if isinstance(error, Conflict):
        error.reply = body.get("reply")
    if isinstance(error, (Conflict, RateLimited)):
        error.retry_after = seconds(headers.get("Retry-After"))
    return error


def seconds(text: Optional[str]) -> float:
    """The seconds of a Retry-After header; 0 where it has none."""
    try:
        return max(0.0, float(text or ""))
    except ValueError:
        return 0.0
