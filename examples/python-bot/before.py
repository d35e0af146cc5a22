"""A bot for Slack with Python's standard library: asked in a channel, it asks a model, and answers
in the thread."""

import hashlib
import hmac
import json
import os
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SLACK = os.environ.get("SLACK_API_URL", "https://slack.com/api/")
INSTRUCTIONS = "You help a small team. Answer in one or two sentences."


def post(url, token, body):
    """Calls a JSON API and returns its answer."""
    headers = {"Content-Type": "application/json; charset=utf-8", "Authorization": "Bearer " + token}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def ask(messages):
    """Sends a chat to a model behind an OpenAI-compatible API, and returns its answer."""
    body = {"model": os.environ.get("MODEL", "gpt-5-mini"), "messages": messages}
    answer = post(os.environ["MODEL_URL"] + "/chat/completions", os.environ.get("MODEL_KEY", ""), body)
    return answer["choices"][0]["message"]["content"]


def say(channel, thread, text):
    """Posts a message in a thread and returns its ts."""
    answer = post(SLACK + "chat.postMessage", os.environ["SLACK_BOT_TOKEN"], {"channel": channel, "thread_ts": thread, "text": text})
    if not answer["ok"]:
        raise RuntimeError("chat.postMessage: " + answer["error"])
    return answer["ts"]


def handle(body):
    """Answers a mention."""
    event = body["event"]
    if event["type"] != "app_mention":
        return
    thread = event.get("thread_ts", event["ts"])
    text = ask([{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": event["text"]}])
    say(event["channel"], thread, text)


class Events(BaseHTTPRequestHandler):
    """Takes Slack's events. Each is acknowledged at once and handled in a thread of its own."""

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        at = self.headers.get("X-Slack-Request-Timestamp", "0")
        signed = hmac.new(os.environ["SLACK_SIGNING_SECRET"].encode(), b"v0:" + at.encode() + b":" + raw, hashlib.sha256)
        if abs(time.time() - int(at)) > 300 or not hmac.compare_digest("v0=" + signed.hexdigest(), self.headers.get("X-Slack-Signature", "")):
            self.send_error(401)
            return
        body = json.loads(raw)
        self.send_response(200)
        self.end_headers()
        if body["type"] == "url_verification":
            self.wfile.write(body["challenge"].encode())
        elif "X-Slack-Retry-Num" not in self.headers:
            threading.Thread(target=handle, args=(body,)).start()


if __name__ == "__main__":
    server = ThreadingHTTPServer((os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "3000"))), Events)
    print("the bot is listening on port", server.server_port, flush=True)
    server.serve_forever()
