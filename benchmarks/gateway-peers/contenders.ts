/** All contenders over one mock, each with files of its own. */
import { join } from "node:path";
import type { Contender } from "./contender.ts";
import { startMock } from "./mock.ts";
import { startOurs } from "./our-gateway.ts";
import { startLitellm, startRllm } from "./peers.ts";

export const contenderNames = [
  "mock alone",
  "ours, SQLite",
  "ours, SQLite normal",
  "rLLM, SQLite",
  "ours, memory",
  "rLLM, memory",
  "LiteLLM",
] as const;

export type ContenderName = (typeof contenderNames)[number];

/** Not asked for long prompts: a round of them would take it minutes. */
export const shortOnly: ContenderName = "LiteLLM";

export type Contenders = Readonly<Record<ContenderName, Contender>>;

/** Those that run are stopped when this process ends, or by `stopAll`. */
export async function startAll(folder: string): Promise<Contenders> {
  const mock = await startMock();
  return {
    "mock alone": mock,
    "ours, SQLite": await startOurs(mock.url, join(folder, "ours.sqlite")),
    "ours, SQLite normal": await startOurs(mock.url, join(folder, "normal.sqlite"), "normal"),
    "ours, memory": await startOurs(mock.url, "memory"),
    "rLLM, SQLite": await startRllm(mock.url, join(folder, "rllm.sqlite")),
    "rLLM, memory": await startRllm(mock.url),
    LiteLLM: await startLitellm(mock.url, folder),
  };
}

export async function stopAll(contenders: Contenders): Promise<void> {
  await Promise.all(Object.values(contenders).map((contender) => contender.stop()));
}
