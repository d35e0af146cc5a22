"""A bot for Slack in Bolt: asked in a channel, it asks a model, and answers in the thread."""

import os
from functools import partial

from openai import OpenAI
from slack_bolt import App

app = App(token=os.environ["SLACK_BOT_TOKEN"], signing_secret=os.environ["SLACK_SIGNING_SECRET"])
model = partial(OpenAI().chat.completions.create, model=os.environ.get("MODEL", "gpt-5-mini"))
instructions = "You help a small team. Answer in one or two sentences."


@app.event("app_mention")
def answer(event, say):
    chat = [{"role": "system", "content": instructions}, {"role": "user", "content": event["text"]}]
    say(model(messages=chat).choices[0].message.content, thread_ts=event.get("thread_ts", event["ts"]))


@app.event("message")
def hear():
    """Takes what else is said, or Slack would send it again."""


app.start(port=int(os.environ.get("PORT", "3000")))
