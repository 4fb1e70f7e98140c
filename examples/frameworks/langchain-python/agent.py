"""A shop assistant with LangChain for Python."""

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI


def agent(questions, get_price, config):
    model = ChatOpenAI(
        model=config["model"],  # changed
        base_url=config["base_url"],  # changed
        api_key=config["api_key"],  # changed
        max_retries=0,
    )
    assistant = create_agent(model, tools=[get_price], system_prompt="You are a shop assistant.")
    messages = []
    for question in questions:
        messages.append({"role": "user", "content": question})
        messages = assistant.invoke({"messages": messages})["messages"]
    return messages[-1].text
