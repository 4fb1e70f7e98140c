"""The official OpenEnv client on the server whose URL it is given: prints what it saw as one JSON object."""

import json
import sys

from openenv.core.generic_client import GenericEnvClient

with GenericEnvClient(base_url=sys.argv[1]).sync() as env:
    first = env.reset(seed=0)
    tools = env.step({"type": "list_tools"})
    last = env.step({"type": "call_tool", "tool_name": "get_price", "arguments": {"item": "mug"}})
    state = env.state()
print(
    json.dumps(
        {
            "prompt": first.observation["message"],
            "begun": [first.reward, first.done],
            "tools": [tool["name"] for tool in tools.observation["tools"]],
            "result": last.observation["result"],
            "ended": [last.reward, last.done],
            "steps": state["step_count"],
        }
    )
)
