"""A shop assistant with the official Python client, as a server for all rollouts."""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from openai import OpenAI

PARAMETERS = {
    "get_price": {"type": "object", "properties": {"item": {"type": "string"}}},
    "multiply": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
}
TOOLS = [{"type": "function", "function": {"name": n, "parameters": p}} for n, p in PARAMETERS.items()]
calls, lock = 0, threading.Lock()


def run_tool(name, given, question):
    if name == "multiply":
        return f"{float(given.get('a', 'nan')) * float(given.get('b', 'nan')):.10g}"
    return str(question["price"]) if given.get("item") == question["item"] else "error: no such item"


def run(task, config):
    client = OpenAI(base_url=config["base_url"], api_key=config["api_key"], max_retries=0)  # changed
    messages = [{"role": "system", "content": "You are a shop assistant."}]
    for question in [task["instruction"], *task["metadata"].get("followUps", [])]:
        messages.append({"role": "user", "content": question})
        said = run_turn(client, messages, task, config)
    return said


def run_turn(client, messages, task, config):
    global calls
    for _ in range(4):
        with lock:
            calls += 1
        model = config["model"]  # changed
        completion = client.chat.completions.create(model=model, messages=messages, tools=TOOLS)
        message = completion.choices[0].message
        messages.append(message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True))
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            content = run_tool(call.function.name, json.loads(call.function.arguments), task["metadata"])
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    return ""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply(200, {"calls": calls})

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
