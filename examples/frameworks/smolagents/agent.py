"""A shop assistant with smolagents."""

from smolagents import OpenAIModel, ToolCallingAgent, tool


def agent(questions, look_up, config):
    @tool
    def get_price(item: str) -> str:
        """The price of an item.

        Args:
            item: its name
        """
        return look_up(item)

    model = OpenAIModel(
        model_id=config["model"],  # changed
        api_base=config["base_url"],  # changed
        api_key=config["api_key"],  # changed
    )
    assistant = ToolCallingAgent(tools=[get_price], model=model, max_steps=4, verbosity_level=0)
    for i, question in enumerate(questions):
        output = assistant.run(question, reset=i == 0)
    return str(output)
