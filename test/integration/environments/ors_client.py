"""The official ORS client on the server whose URL it is given: prints what it saw as one JSON object."""

import asyncio
import json
import sys

from openreward.api.environments.client import AsyncEnvironmentsAPI


async def main(url: str) -> None:
    async with AsyncEnvironmentsAPI(base_url=url, api_key="local") as api:
        env = api.get("shop")
        splits = await env.list_splits()
        tasks = await env.list_tasks("train")
        tools = await env.list_tools()
        async with env.session(task=tasks[0]) as session:
            prompt = await session.get_prompt()
            output = await session.call_tool("get_price", {"item": "mug"})
        seen = {
            "splits": splits,
            "tasks": len(tasks),
            "tools": [tool.name for tool in tools],
            "prompt": prompt[0].text,
            "reward": output.reward,
            "finished": output.finished,
            "text": output.blocks[0].text,
        }
        print(json.dumps(seen))


asyncio.run(main(sys.argv[1]))
