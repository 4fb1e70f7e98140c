"""A shop assistant with Microsoft's Agent Framework."""

from agent_framework import Agent
from agent_framework.openai import OpenAIChatCompletionClient


async def agent(questions, get_price, config):
    client = OpenAIChatCompletionClient(
        model=config["model"],  # changed
        base_url=config["base_url"],  # changed
        api_key=config["api_key"],  # changed
    )
    assistant = Agent(client=client, instructions="You are a shop assistant.", tools=[get_price])
    session = assistant.create_session()
    for question in questions:
        result = await assistant.run(question, session=session)
    return result.text
