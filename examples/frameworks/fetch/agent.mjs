/** A shop assistant with nothing but fetch. */
import { parameters, questionsOf, runTool, systemPrompt } from "../shop.mjs";

const tools = Object.entries(parameters).map(([name, schema]) => ({
  type: "function",
  function: { name, parameters: schema },
}));

export async function agent(task, { baseUrl, apiKey, model, signal }) {
  const [first, ...followUps] = questionsOf(task);
  const messages = [
    { role: "system", content: systemPrompt },
    { role: "user", content: first },
  ];
  for (let turn = 0; turn < 4; turn++) {
    const response = await fetch(`${baseUrl}/chat/completions`, {
      // changed
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` }, // changed
      body: JSON.stringify({ model, messages, tools }), // changed
      signal,
    });
    const { choices } = await response.json();
    const { message } = choices[0];
    messages.push(message);
    if (!message.tool_calls?.length) {
      if (followUps.length === 0) return message.content;
      messages.push({ role: "user", content: followUps.shift() });
      continue;
    }
    for (const { id, function: call } of message.tool_calls) {
      const content = runTool(call.name, JSON.parse(call.arguments), task.metadata);
      messages.push({ role: "tool", tool_call_id: id, content });
    }
  }
  return "";
}
