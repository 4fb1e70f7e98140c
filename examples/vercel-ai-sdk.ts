/** An agent with the Vercel AI SDK: its provider for OpenAI-compatible servers, pointed at the session. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { AgentTrainer } from "agent-trainer";
import { generateText, jsonSchema } from "ai";
import { config, parameters, systemPrompt, tasks, trainAndPrint } from "./shared/prices.ts";

const inputSchema = jsonSchema<{ item: string }>({ ...parameters, type: "object" });
const tools = { get_price: { inputSchema } };

await trainAndPrint(
  new AgentTrainer({
    config,
    trainDataset: tasks,
    agentFlow: async (task, { baseUrl, apiKey, model, signal }) => {
      const provider = createOpenAICompatible({ name: "trainer", baseURL: baseUrl, apiKey });
      const { toolCalls } = await generateText({
        model: provider(model),
        system: systemPrompt,
        prompt: task.instruction,
        tools,
        maxRetries: 0,
        abortSignal: signal,
      });
      return toolCalls.length;
    },
    evaluator: (_task, episode) => episode.output === 1,
  }),
);
