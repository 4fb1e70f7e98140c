/**
 * Two solvers in parallel and a judge, with separate rewards. The solvers are paid for looking a price up once, the judge
 * for answering the same question without looking anything up. All have one set of weights, which cannot do both; with `-- judge=adapter` solvers and judge have a LoRA adapter
 * each, on one base, and with `-- judge=frozen` only the solvers are trained. The title is a side call that is excluded
 * from training.
 */
import { AgentTrainer, defineTrajectory, withTrajectory } from "agent-trainer";
import OpenAI from "openai";
import { config, opening, tasks, tool, trainAndPrint } from "./shared/prices.ts";

const seed = Number(process.argv.find((word) => word.startsWith("seed="))?.slice(5) ?? 0);
const isFrozen = process.argv.includes("judge=frozen");
const adapters = process.argv.includes("judge=adapter")
  ? {
      model: {
        ...config.model,
        loraRank: 8,
        // Calls of other roles, the title here, are sampled from the base.
        adapterByRole: ["solver=solver", "judge=judge", "title=none"],
      },
      training: { learningRate: 3e-3 },
    }
  : {};

await trainAndPrint(
  new AgentTrainer({
    trainDataset: tasks,
    config: {
      ...config,
      data: { trainBatchSize: 4 },
      trainer: { ...config.trainer, seed },
      ...adapters,
    },
    agentRunFunc: async (task, { baseUrl, apiKey, model, trajectory, fetch }) => {
      // With this fetch, a call belongs to the trajectory in whose scope the code runs.
      const client = new OpenAI({ baseURL: baseUrl, apiKey, fetch, maxRetries: 0 });
      const callsOf = async (question: string): Promise<number> => {
        const messages = opening(question);
        const answer = await client.chat.completions.create({ model, messages, tools: [tool] });
        return answer.choices[0]?.message.tool_calls?.length ?? 0;
      };
      const solve = async (name: string) => {
        const { uid } = trajectory(name, { role: "solver" });
        const calls = await withTrajectory(name, () => callsOf(task.instruction));
        return defineTrajectory({ name: "solver", uid, reward: calls === 1 ? 1 : 0 });
      };
      const solvers = await Promise.all(["solver 1", "solver 2"].map(solve));

      trajectory("judge", { train: !isFrozen });
      const calls = await withTrajectory("judge", () => callsOf(task.instruction));
      // A judge should answer instead of looking things up, also where a solver should not.
      const judge = defineTrajectory({ name: "judge", reward: calls === 0 ? 1 : 0 });

      trajectory("title", { train: false });
      await withTrajectory("title", () => callsOf("A title, please."));
      return [...solvers, judge];
    },
  }),
  ["solver", "judge"],
);
