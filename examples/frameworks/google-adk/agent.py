"""A shop assistant with Google's Agent Development Kit, its model by LiteLLM."""

import os

# Otherwise LiteLLM downloads a list of prices first.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, Part


async def agent(questions, get_price, config):
    model = LiteLlm(
        model="openai/" + config["model"],  # changed
        api_base=config["base_url"],  # changed
        api_key=config["api_key"],  # changed
    )
    assistant = LlmAgent(
        name="assistant", model=model, instruction="You are a shop assistant.", tools=[get_price]
    )
    runner = InMemoryRunner(agent=assistant, app_name="shop")
    session = await runner.session_service.create_session(app_name="shop", user_id="user")
    text = ""
    for question in questions:
        message = Content(role="user", parts=[Part(text=question)])
        async for event in runner.run_async(user_id="user", session_id=session.id, new_message=message):
            if event.is_final_response() and event.content:
                text = "".join(part.text or "" for part in event.content.parts)
    return text
