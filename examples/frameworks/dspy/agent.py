"""A shop assistant with DSPy's ReAct."""

import dspy


def agent(questions, get_price, config):
    model = dspy.LM(
        "openai/" + config["model"],  # changed
        api_base=config["base_url"],  # changed
        api_key=config["api_key"],  # changed
        cache=False,
        num_retries=0,
    )
    with dspy.context(lm=model):
        assistant = dspy.ReAct("history: dspy.History, question -> answer", tools=[get_price], max_iters=3)
        turns = []
        for question in questions:
            answer = assistant(question=question, history=dspy.History(messages=turns)).answer
            turns.append({"question": question, "answer": answer})
    return answer
