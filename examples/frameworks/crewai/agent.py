"""A shop assistant with CrewAI."""

import os

os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
from crewai import LLM, Agent  # noqa: E402
from crewai.tools import tool  # noqa: E402


def agent(questions, look_up, config):
    @tool("get_price")
    def get_price(item: str) -> str:
        """The price of an item."""
        return look_up(item)

    model = LLM(
        model="openai/" + config["model"],  # changed
        base_url=config["base_url"],  # changed
        api_key=config["api_key"],  # changed
    )
    assistant = Agent(
        role="Shop assistant", goal="Say prices", backstory="You work in a shop.", llm=model, tools=[get_price]
    )
    messages = []
    for question in questions:
        messages.append({"role": "user", "content": question})
        result = assistant.kickoff(messages)
        messages.append({"role": "assistant", "content": result.raw})
    return result.raw
