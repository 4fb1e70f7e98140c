/** An agent with LangChain's chat model. A LangGraph node that calls this model works the same. */
import { ChatOpenAI } from "@langchain/openai";
import { AgentTrainer } from "agent-trainer";
import { config, opening, tasks, tool, trainAndPrint } from "./shared/prices.ts";

await trainAndPrint(
  new AgentTrainer({
    config,
    trainDataset: tasks,
    agentFlow: async (task, { baseUrl, apiKey, model, signal }) => {
      const chat = new ChatOpenAI({
        model,
        apiKey,
        maxRetries: 0,
        configuration: { baseURL: baseUrl },
      }).bindTools([tool]);
      const answer = await chat.invoke(opening(task.instruction), { signal });
      return answer.tool_calls?.length ?? 0;
    },
    evaluator: (_task, episode) => episode.output === 1,
  }),
);
