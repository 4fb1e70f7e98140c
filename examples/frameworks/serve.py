"""Serves one of the Python agents to agent-trainer: python serve.py langchain-python/agent.py

Every rollout is a POST (docs/command-agents.md).
"""

import asyncio
import importlib.util
import inspect
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

spec = importlib.util.spec_from_file_location("agent", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)


def run(task, config):
    shop = task["metadata"]
    questions = [task["instruction"], *shop.get("followUps", [])]

    def get_price(item: str) -> str:
        """The price of an item."""
        return str(shop["price"]) if item == shop["item"] else "error: no such item"

    output = module.agent(questions, get_price, config)
    return asyncio.run(output) if inspect.iscoroutine(output) else output


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        rollout = json.loads(self.rfile.read(int(self.headers["content-length"])))
        try:
            self.reply(200, {"output": run(rollout["task"], rollout["config"])})
        except Exception as error:
            self.reply(500, {"error": repr(error)})

    def reply(self, status, value):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def log_message(self, *_):
        pass


ThreadingHTTPServer.request_queue_size = 128
ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
