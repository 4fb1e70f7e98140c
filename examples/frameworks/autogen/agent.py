"""A shop assistant with AutoGen."""

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient

INFO = {"vision": False, "function_calling": True, "json_output": True, "structured_output": False, "family": "unknown"}


async def agent(questions, get_price, config):
    client = OpenAIChatCompletionClient(
        model=config["model"],  # changed
        base_url=config["base_url"],  # changed
        api_key=config["api_key"],  # changed
        model_info=INFO,
        max_retries=0,
    )
    assistant = AssistantAgent(
        "assistant",
        model_client=client,
        tools=[get_price],
        system_message="You are a shop assistant.",
        max_tool_iterations=3,
    )
    for question in questions:
        result = await assistant.run(task=question)
    await client.close()
    return result.messages[-1].content
