"""A bot for Slack in Bolt: asked in a channel, it asks a model, and answers in the thread."""

import os
from functools import partial

from earshot import Earshot
from openai import OpenAI
from slack_bolt import App

app = App(token=os.environ["SLACK_BOT_TOKEN"], signing_secret=os.environ["SLACK_SIGNING_SECRET"])
model = partial(OpenAI().chat.completions.create, model=os.environ.get("MODEL", "gpt-5-mini"))
instructions = "You help a small team. Answer in one or two sentences."

Earshot().slack(app).answer(lambda turn: turn.run(model), instructions=instructions)

app.start(port=int(os.environ.get("PORT", "3000")))
