"""A shop assistant with instructor: what to look up comes as an object, the answer as text."""

import instructor
from openai import OpenAI
from pydantic import BaseModel


class get_price(BaseModel):
    """The price of an item."""

    item: str


def agent(questions, look_up, config):
    openai = OpenAI(base_url=config["base_url"], api_key=config["api_key"], max_retries=0)  # changed
    client = instructor.from_openai(openai)
    model = config["model"]  # changed
    messages = [{"role": "system", "content": "You are a shop assistant."}]
    for question in questions:
        messages.append({"role": "user", "content": question})
        wanted, completion = client.chat.completions.create_with_completion(
            model=model, messages=messages, response_model=get_price, max_retries=0
        )
        said = completion.choices[0].message
        messages.append(said.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True))
        for call in said.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": look_up(wanted.item)})
        answer = openai.chat.completions.create(model=model, messages=messages).choices[0].message
        messages.append({"role": "assistant", "content": answer.content})
    return answer.content
