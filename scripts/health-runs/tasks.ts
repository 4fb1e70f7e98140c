/** Tasks and rewards that the built-in model can learn, for runs whose metrics tests are held against. */
import type { AgentConfig } from "../../src/core/agent.ts";
import type { Task } from "../../src/core/task.ts";
import type { Episode, EvalOutput } from "../../src/core/trajectory.ts";
import { agent as shopAgent, tools } from "../../examples/shop/agent.ts";
import { evaluator as isRightAnswer } from "../../examples/shop/evaluator.ts";
import { makeTasks, type ShopTask } from "../../examples/shop/tasks.ts";

export type ShopEvaluator = (task: Task<ShopTask>, episode: Episode) => EvalOutput | number;

export interface RunTask {
  readonly agent: (task: Task<ShopTask>, config: AgentConfig) => Promise<unknown>;
  readonly evaluator: ShopEvaluator;
}

/** Names and arguments of the tools that the model called, in order. */
function toolCalls(episode: Episode): { name: string; input: Record<string, unknown> }[] {
  return episode.trajectories.flatMap(({ steps }) =>
    steps.flatMap(({ trace }) =>
      (trace.response.toolCalls ?? []).map(({ name, arguments: text }) => {
        try {
          return { name, input: JSON.parse(text) as Record<string, unknown> };
        } catch {
          return { name, input: {} };
        }
      }),
    ),
  );
}

const lastNumber = (episode: Episode): number =>
  Number((String(episode.output).match(/\d+/gu) ?? []).at(-1) ?? Number.NaN);
const score = (isTrue: boolean): number => (isTrue ? 1 : 0);
const signal = (name: string, value: number) => ({ name, value });

export const agent = (task: Task<ShopTask>, config: AgentConfig): Promise<string> =>
  shopAgent(task, config);

/** One call, whose tool calls are not run. */
export async function oneCall(task: Task<ShopTask>, config: AgentConfig): Promise<string> {
  const response = await fetch(`${config.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${config.apiKey}` },
    body: JSON.stringify({
      messages: [
        { role: "system", content: "You are a shop assistant." },
        { role: "user", content: task.instruction },
      ],
      tools,
    }),
    signal: config.signal,
  });
  if (!response.ok) throw new Error(await response.text());
  const body = (await response.json()) as { choices: { message: { content: string | null } }[] };
  return body.choices[0]?.message.content ?? "";
}

export const shop: RunTask = {
  agent,
  evaluator: (task, episode) => score(isRightAnswer(task, episode)),
};

/** A grade for looking up the right item, and the full reward for the right answer. */
export const graded: RunTask = {
  agent,
  evaluator(task, episode) {
    const { item, answer } = task.metadata;
    const looked = toolCalls(episode).some(
      ({ name, input }) => name === "get_price" && input["item"] === item,
    );
    const right = lastNumber(episode) === answer;
    return {
      reward: 0.3 * score(looked) + 0.7 * score(right),
      isCorrect: right,
      signals: [signal("looked_up", score(looked)), signal("right", score(right))],
    };
  },
};

/** Multiply by the right count. */
export const multiply: RunTask = {
  agent,
  evaluator: (task, episode) =>
    score(
      toolCalls(episode).some(
        ({ name, input }) => name === "multiply" && Number(input["a"]) === task.metadata.count,
      ),
    ),
};

/** Answer with a number near 400, without a look at the task. */
export const near400: RunTask = {
  agent: oneCall,
  evaluator(_task, episode) {
    const number = lastNumber(episode);
    return Number.isNaN(number) ? 0 : Math.max(0, 1 - Math.abs(number - 400) / 400);
  },
};

/** An even number. */
export const even: RunTask = {
  agent: oneCall,
  evaluator: (_task, episode) => score(lastNumber(episode) % 2 === 0),
};

export const trainTasks = makeTasks("train", 256);
export const valTasks = makeTasks("val", 24);
