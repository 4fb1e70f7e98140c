/** An agent with the official OpenAI SDK. Only `baseURL` and `apiKey` are special. */
import { AgentTrainer } from "agent-trainer";
import OpenAI from "openai";
import { config, opening, tasks, tool, trainAndPrint } from "./shared/prices.ts";

await trainAndPrint(
  new AgentTrainer({
    config,
    trainDataset: tasks,
    agentFlow: async (task, { baseUrl, apiKey, model, signal }) => {
      const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
      const completion = await client.chat.completions.create(
        { model, messages: opening(task.instruction), tools: [tool] },
        { signal },
      );
      return completion.choices[0]?.message.tool_calls?.length ?? 0;
    },
    evaluator: (_task, episode) => episode.output === 1,
  }),
);
