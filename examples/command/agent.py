"""The shop agent in Python, with nothing but the standard library.

As a command it reads the rollout from its input and prints the answer:
    agent-trainer train examples/command/shop.yaml --command "python3 agent.py"
"""

import json
import os
import sys
import urllib.request

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": fields}}}
    for name, fields in {
        "get_price": {"item": {"type": "string"}},
        "multiply": {"a": {"type": "number"}, "b": {"type": "number"}},
    }.items()
]


def chat(config, messages):
    """One model call: any client of OpenAI's API does."""
    request = urllib.request.Request(
        config["base_url"] + "/chat/completions",
        json.dumps({"model": config["model"], "messages": messages, "tools": TOOLS}).encode(),
        {"content-type": "application/json", "authorization": "Bearer " + config["api_key"]},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]


def run_tool(task, call):
    try:
        given = json.loads(call["function"]["arguments"])
        if call["function"]["name"] == "multiply":
            return f"{float(given['a']) * float(given['b']):.10g}"
        item = task["metadata"]["item"]
        return str(task["metadata"]["price"]) if given.get("item") == item else "error: no such item"
    except (ValueError, KeyError, TypeError, AttributeError):
        return "error: wrong arguments"


def run(task, config):
    messages = [
        {"role": "system", "content": "You are a shop assistant."},
        {"role": "user", "content": task["instruction"]},
    ]
    for _ in range(4):
        message = chat(config, messages)
        messages.append(message)
        if not message.get("tool_calls"):
            return message.get("content") or ""
        for call in message["tool_calls"]:
            content = run_tool(task, call)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
    return "I could not find out."


if __name__ == "__main__":
    rollout = json.load(sys.stdin)
    # The same as rollout["config"]; clients such as openai's read these variables themselves.
    endpoint = {
        "base_url": os.environ["OPENAI_BASE_URL"],
        "api_key": os.environ["OPENAI_API_KEY"],
        "model": os.environ["OPENAI_MODEL"],
    }
    print(run(rollout["task"], endpoint))
