"""A shop assistant with the OpenAI Agents SDK for Python, through the Responses API."""

from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)


async def agent(questions, get_price, config):
    client = AsyncOpenAI(base_url=config["base_url"], api_key=config["api_key"], max_retries=0)  # changed
    assistant = Agent(
        name="Shop assistant",
        instructions="You are a shop assistant.",
        model=OpenAIResponsesModel(model=config["model"], openai_client=client),  # changed
        tools=[function_tool(get_price)],
    )
    items = []
    for question in questions:
        result = await Runner.run(assistant, [*items, {"role": "user", "content": question}], max_turns=4)
        items = result.to_input_list()
    return result.final_output
