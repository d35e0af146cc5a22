"""A bot behind a web page, on FastAPI: one process, many questions at once."""

from functools import partial

from earshot.aio import Earshot
from fastapi import FastAPI
from openai import AsyncOpenAI

app = FastAPI()
earshot = Earshot(agent="BOT")
model = partial(AsyncOpenAI().chat.completions.create, model="gpt-5-mini")


@app.on_event("startup")
async def introduce():
    await earshot.api.put_agent("BOT", {"name": "helper"})


@app.post("/rooms/{room}/messages/{id}")
async def ask(room: str, id: str, message: dict):
    await earshot.message(room, {"id": id, "author": {"id": "ann", "name": "Ann"}, **message})
    return {"answer": await earshot.answer(room, id, lambda turn: turn.run(model), lambda text: "re-" + id)}
