"""The official OpenEnv client on the server whose URL it is given: prints what it saw as one JSON object."""

import json
import sys

from openenv.core.generic_client import GenericEnvClient
from openenv.core.mcp_client import MCPToolClient

with GenericEnvClient(base_url=sys.argv[1]).sync() as env:
    first = env.reset(seed=0)
    tools = env.step({"type": "list_tools"})
    last = env.step({"type": "call_tool", "tool_name": "get_price", "arguments": {"item": "mug"}})
    state = env.state()
# Tools over HTTP at /mcp, in a session that the socket shares.
with MCPToolClient(base_url=sys.argv[1]).sync() as env:
    env.reset(seed=0)
    direct = {
        "tools": [tool.name for tool in env.list_tools()],
        "result": env.call_tool("get_price", item="mug"),
        "steps": env.state().step_count,
    }
print(
    json.dumps(
        {
            "prompt": first.observation["message"],
            "begun": [first.reward, first.done],
            "tools": [tool["name"] for tool in tools.observation["tools"]],
            "result": last.observation["result"],
            "ended": [last.reward, last.done],
            "steps": state["step_count"],
            "direct": direct,
        }
    )
)
