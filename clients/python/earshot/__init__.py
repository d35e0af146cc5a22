"""Earshot's sidecar from Python.

    from earshot import Earshot

    earshot = Earshot("http://127.0.0.1:7301", "ek_...")      # or EARSHOT_URL and EARSHOT_KEY
    earshot.api.put_agent("BOT", {"name": "helper"})          # once: who your bot is
    earshot.message("C1", {"id": "1", "time": "2026-03-02T09:00:00Z",
                           "author": {"id": "U1", "name": "Alice"}, "text": "staging is down"})
    with earshot.turn("C1", "1") as turn:
        turn.commit(model(turn.system, turn.messages))

Start with Earshot, Turn and EarshotError. earshot.api has a method for each operation
of the HTTP API.
"""

from . import _generated as wire
from ._client import Conversation, Earshot
from ._errors import (
    Conflict,
    EarshotError,
    Expired,
    Forbidden,
    Interrupted,
    Invalid,
    NotFound,
    RateLimited,
    Unauthenticated,
    Unavailable,
    Unreachable,
)
from ._http import ServerEvent
from ._turn import Context, Turn

__all__ = [
    "Conflict",
    "Context",
    "Conversation",
    "Earshot",
    "EarshotError",
    "Expired",
    "Forbidden",
    "Interrupted",
    "Invalid",
    "NotFound",
    "RateLimited",
    "ServerEvent",
    "Turn",
    "Unauthenticated",
    "Unavailable",
    "Unreachable",
    "wire",
]
