/** Simulated customers of the shop: they ask, and some say what they think of the answer, not always rightly. */
import type { Task } from "agent-trainer";
import OpenAI from "openai";
import { systemPrompt, tools } from "../../shop/agent.ts";
import { makeTasks, type ShopTask } from "../../shop/tasks.ts";

/** What customers of the gate and of the test ask; those of no day do. */
export const heldOut: Task<ShopTask>[] = makeTasks("held-out", 300);
export const test: Task<ShopTask>[] = makeTasks("test", 300, heldOut);

export interface Day {
  /** The shop's model, `http://.../v1`. */
  readonly url: string;
  /** Names the day; its questions and thumbs follow from it. */
  readonly name: string;
  readonly conversations: number;
  /** Of thumbs that say the opposite. */
  readonly wrong: number;
}

const users = 50;
const atOnce = 32;

/** From 0 to 1, the same for the same text. */
function chance(text: string): number {
  let hash = 0x811c9dc5;
  for (const char of text) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

function runTool(task: Task<ShopTask>, name: string, text: string): string {
  try {
    const input = JSON.parse(text) as { item?: string; a?: number; b?: number };
    if (name === "multiply") return String(Number(input.a) * Number(input.b));
    return input.item === task.metadata.item ? String(task.metadata.price) : "error: no such item";
  } catch {
    return "error: arguments are not JSON";
  }
}

/** Whether the answer was right. */
async function ask(client: OpenAI, task: Task<ShopTask>, user: string): Promise<boolean> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "system", content: systemPrompt },
    { role: "user", content: task.instruction },
  ];
  for (let turn = 0; turn < 4; turn++) {
    const { choices } = await client.chat.completions.create(
      { model: "shop", messages, tools, user, max_tokens: 64 },
      { headers: { "x-conversation-id": task.id } },
    );
    const message = choices[0]!.message;
    messages.push(message);
    if (!message.tool_calls?.length) {
      const numbers = (message.content ?? "").match(/\d+/g) ?? [];
      return Number(numbers.at(-1)) === task.metadata.answer;
    }
    for (const call of message.tool_calls) {
      if (call.type !== "function") continue;
      const content = runTool(task, call.function.name, call.function.arguments);
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
  return false;
}

/** Resolves with the share of right answers. */
export async function liveThrough({ url, name, conversations, wrong }: Day): Promise<number> {
  const client = new OpenAI({ baseURL: url, apiKey: "none" });
  const tasks = makeTasks(name, conversations, [...heldOut, ...test]);
  let right = 0;
  let next = 0;
  const customer = async (): Promise<void> => {
    for (let i = next++; i < tasks.length; i = next++) {
      const [task, user] = [tasks[i]!, `customer-${i % users}`];
      const isRight = await ask(client, task, user);
      if (isRight) right++;
      const isWrongThumb = chance(task.id) < wrong;
      const thumb = isRight !== isWrongThumb ? "up" : "down";
      await fetch(new URL("/feedback", url), {
        method: "POST",
        body: JSON.stringify({ conversationId: task.id, user, thumb }),
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, customer));
  return right / tasks.length;
}
