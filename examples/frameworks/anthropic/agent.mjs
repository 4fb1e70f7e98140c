/** A shop assistant with Anthropic's SDK, streaming. */
import Anthropic from "@anthropic-ai/sdk";
import { parameters, questionsOf, runTool, systemPrompt } from "../shop.mjs";

const tools = Object.entries(parameters).map(([name, input_schema]) => ({ name, input_schema }));

export async function agent(task, { anthropicBaseUrl, apiKey, model, signal }) {
  const client = new Anthropic({ baseURL: anthropicBaseUrl, apiKey, maxRetries: 0 }); // changed
  const [first, ...followUps] = questionsOf(task);
  const messages = [{ role: "user", content: first }];
  for (let turn = 0; turn < 4; turn++) {
    const { content } = await client.messages
      .stream({ model, max_tokens: 1024, system: systemPrompt, messages, tools }, { signal }) // changed
      .finalMessage();
    messages.push({ role: "assistant", content });
    const calls = content.filter(({ type }) => type === "tool_use");
    if (calls.length === 0) {
      if (followUps.length === 0) return content.map(({ text }) => text ?? "").join("");
      messages.push({ role: "user", content: followUps.shift() });
      continue;
    }
    messages.push({
      role: "user",
      content: calls.map(({ id, name, input }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: runTool(name, input, task.metadata),
      })),
    });
  }
  return "";
}
