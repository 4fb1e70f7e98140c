"""The same agent as a server: one process takes all rollouts, a thread each."""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from agent import run


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers["authorization"] != "Bearer " + os.environ["AGENT_TRAINER_AGENT_KEY"]:
            return self.reply(401, {"error": "wrong key"})
        try:
            rollout = json.loads(body)
            self.reply(200, {"output": run(rollout["task"], rollout["config"])})
        except Exception as error:  # a failure of the agent, which is scored as one
            self.reply(500, {"error": repr(error)})

    def reply(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


Server(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
