/** An agent without any SDK, as a function that returns its own reward. */
import { AgentTrainer } from "agent-trainer";
import { config, opening, tasks, tool, trainAndPrint } from "./shared/prices.ts";

interface Completion {
  readonly choices: readonly { readonly message: { readonly tool_calls?: readonly unknown[] } }[];
}

await trainAndPrint(
  new AgentTrainer({
    config,
    trainDataset: tasks,
    agentRunFunc: async (task, { baseUrl, apiKey, model, signal }) => {
      const response = await fetch(`${baseUrl}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
        body: JSON.stringify({ model, messages: opening(task.instruction), tools: [tool] }),
        signal,
      });
      if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
      const { choices } = (await response.json()) as Completion;
      return choices[0]?.message.tool_calls?.length === 1;
    },
  }),
);
