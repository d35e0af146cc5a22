"""Earshot's sidecar from an asynchronous program: what earshot has, to be awaited.

    from earshot.aio import Earshot

    async with Earshot() as earshot:
        async with await earshot.turn("C1", "1") as turn:
            await turn.commit(await model(turn.chat))

It needs httpx: pip install 'earshot[aio]'. Functions that it is given may be asynchronous or not.
"""

from ._client import Conversation, Earshot
from ._turn import Context, Turn

__all__ = ["Context", "Conversation", "Earshot", "Turn"]
