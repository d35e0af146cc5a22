"""An agent that Earshot asks over HTTP: it asks back once, and answers as a stream."""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Agent(BaseHTTPRequestHandler):
    def do_POST(self):
        turn = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        asked = turn["messages"][-1]["parts"][-1].get("text", "")
        if "answer" in turn:
            self.say("text", text=f"Deploying to {turn['answer']['text']}.")
        elif "deploy" in asked:
            self.say("question", question="Where to?", options=["staging", "production"], state={"task": turn["key"]})
            return
        else:
            self.say("status", text="thinking")
            self.say("text", text=f"Hello {turn['asker'].get('name', '')}, in turn {turn['turn']} of this bot.")
        self.say("done")

    def say(self, event, **data):
        self.wfile.write(f"event: {event}\ndata: {json.dumps(data)}\n\n".encode())


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Agent).serve_forever()
