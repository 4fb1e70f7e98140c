"""A shop assistant with Pydantic AI."""

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


async def agent(questions, get_price, config):
    provider = OpenAIProvider(base_url=config["base_url"], api_key=config["api_key"])  # changed
    model = OpenAIChatModel(config["model"], provider=provider)  # changed
    assistant = Agent(model, instructions="You are a shop assistant.", tools=[get_price])
    history = []
    for question in questions:
        result = await assistant.run(question, message_history=history)
        history = result.all_messages()
    return result.output
