/**
 * An agent that talks with a simulated user over several turns. The user asks for a price and insists until it hears
 * one; here a function plays it, so that the example needs no second model. With USER_URL=http://.../v1 and
 * USER_MODEL=NAME a model does.
 */
import { AgentTrainer, type Task } from "agent-trainer";
import { userSimulator, type UserScript } from "agent-trainer/environments";
import OpenAI from "openai";
import { config, systemPrompt, tasks, tool, trainAndPrint } from "./shared/prices.ts";

type Item = { readonly item: string };

const insisting =
  ({ item }: Item): UserScript =>
  (messages) => {
    const heard = messages.at(-1)?.content ?? "";
    const question = `How much do 3 ${item}s cost?`;
    if (messages.length === 1) return question;
    return /\d+ euros/u.test(heard) ? "###STOP###" : `That is no price. ${question}`;
  };

const { USER_URL: baseUrl, USER_MODEL: model = "user" } = process.env;

const customer = (task: Task<Item>) =>
  userSimulator<Item>({
    model: baseUrl === undefined ? insisting(task.metadata) : { baseUrl, model },
    persona: "A customer of a shop who is in a hurry and writes one short sentence at a time.",
    goal: ({ metadata }) => `Find out what 3 ${metadata.item}s cost, in euros.`,
    maxTurns: 3,
  });

await trainAndPrint(
  new AgentTrainer({
    config,
    trainDataset: tasks,
    agentFlow: async (task, rollout) => {
      const client = new OpenAI({ baseURL: rollout.baseUrl, apiKey: rollout.apiKey });
      const user = customer(task).begin(task, rollout);
      const messages: OpenAI.ChatCompletionMessageParam[] = [
        { role: "system", content: systemPrompt },
      ];
      let said = await user.say();
      while (said !== null) {
        messages.push({ role: "user", content: said });
        const { choices } = await client.chat.completions.create(
          { model: rollout.model, messages, tools: [tool] },
          { signal: rollout.signal },
        );
        const message = choices[0]!.message;
        messages.push(message);
        // A look-up is answered by the program, so that the price is right.
        const calls = message.tool_calls ?? [];
        const answer = calls.length === 0 ? (message.content ?? "") : "They cost 42 euros.";
        for (const { id } of calls)
          messages.push({ role: "tool", tool_call_id: id, content: answer });
        said = await user.say(answer === "" ? "..." : answer);
      }
      return { isContent: user.ended === "stop", turns: user.metrics()["user_turns"] };
    },
    // The fewer turns the user needed, the better.
    evaluator: (_task, { output }) => {
      const { isContent, turns } = output as { isContent: boolean; turns: number };
      return isContent ? 1 / turns : 0;
    },
  }),
);
