"""A bot that is killed again and again: it answers each mention, takes its time about it, and says
on standard output how far it is."""

import json
import os
import random
import threading
import time
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from earshot import Earshot, Interrupted

EARSHOT = Earshot(platform="slack")


def slack(method, **args):
    """Calls Slack with a form, as all of its methods take."""
    form = {name: value if isinstance(value, str) else json.dumps(value) for name, value in args.items()}
    headers = {"Authorization": "Bearer " + os.environ["SLACK_BOT_TOKEN"]}
    request = urllib.request.Request(os.environ["SLACK_API_URL"] + method, urllib.parse.urlencode(form).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        answer = json.load(response)
    if not answer["ok"]:
        raise RuntimeError(f"{method}: {answer['error']}")
    return answer


def reached(stage, question):
    print(f"{stage} {question}\n", end="", flush=True)
    time.sleep(random.random() * 0.2)


def answer(channel, question, claimed=lambda: None):
    root = EARSHOT.api.get_message(channel, question)["message"].get("thread", question)

    def ask(turn):
        claimed()
        reached("asking", question)
        return "answer to " + question

    def post(text, key):
        reached("posting", question)
        metadata = {"event_type": "earshot_reply", "event_payload": {"key": key, "question": question}}
        ts = slack("chat.postMessage", channel=channel, thread_ts=root, text=text, metadata=metadata)["ts"]
        reached("posted", question)
        return ts

    def find(key):
        cursor = ""
        while True:
            page = slack("conversations.replies", channel=channel, ts=root, include_all_metadata=True, cursor=cursor)
            for message in page["messages"]:
                if message.get("metadata", {}).get("event_payload", {}).get("key") == key:
                    reached("found", question)
                    return {"id": message["ts"], "text": message["text"]}
            cursor = page.get("response_metadata", {}).get("next_cursor", "")
            if not cursor:
                return None

    try:
        reply = EARSHOT.answer(channel, question, ask, post, find if os.environ.get("FIND") else None, hold=2)
        reached("answered" if reply else "left", question)
    except Interrupted:
        reached("interrupted", question)


class Events(BaseHTTPRequestHandler):
    """Takes Slack's events. A mention is acknowledged once its message is claimed: until then the
    platform tells it again, and from then on the sidecar knows of it."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        EARSHOT.raw("slack", body)
        event = body["event"]
        claimed = threading.Event()

        def run():
            try:
                answer(event["channel"], event["ts"], claimed.set)
            finally:
                claimed.set()

        if event["type"] == "app_mention":
            threading.Thread(target=run).start()
            claimed.wait()
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args):
        pass


me = slack("auth.test")
EARSHOT.api.put_agent(me["user_id"], {"name": me["user"], "workspace": me["team_id"]})
server = ThreadingHTTPServer(("127.0.0.1", 0), Events)
print("ready", server.server_port, flush=True)
for left in EARSHOT.unfinished():
    threading.Thread(target=answer, args=(left["channel"], left["anchor"])).start()
server.serve_forever()
