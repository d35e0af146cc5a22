"""A double of OpenAI's client: chat.completions.create, at OPENAI_BASE_URL."""

import asyncio
import json
import os
import urllib.request
from types import SimpleNamespace


class Completion:
    """What the real client returns: no dictionary, and one of model_dump's."""

    def __init__(self, data):
        self._data = data
        self.choices = [SimpleNamespace(message=SimpleNamespace(content=c["message"].get("content"))) for c in data["choices"]]

    def model_dump(self, exclude_none=False):
        return self._data


def create(**body):
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=300) as response:
        return Completion(json.load(response))


async def acreate(**body):
    return await asyncio.get_running_loop().run_in_executor(None, lambda: create(**body))


def OpenAI():
    return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))


def AsyncOpenAI():
    return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=acreate)))
