/** Agents written to a folder as programs of Node, and calls that say which rollout made them. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { Episode } from "../../src/core/trajectory.ts";

/** `ask(text, config?)` calls the model; without `config`, by the environment. */
const client = `
import { readFileSync } from "node:fs";
export const readRollout = () => JSON.parse(readFileSync(0, "utf8"));
const ofEnvironment = {
  base_url: process.env.OPENAI_BASE_URL,
  api_key: process.env.OPENAI_API_KEY,
  model: process.env.OPENAI_MODEL,
};
export async function ask(content, { base_url, api_key, model } = ofEnvironment) {
  const response = await fetch(base_url + "/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer " + api_key },
    body: JSON.stringify({ model, messages: [{ role: "user", content }] }),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(body));
  return body.choices[0].message.content;
}
`;

/** A folder with `agent.mjs`, which may use `ask` and `readRollout`. */
export function scriptFolder(source: string): string {
  const folder = mkdtempSync(join(tmpdir(), "agents-"));
  writeFileSync(join(folder, "client.mjs"), client);
  writeFileSync(
    join(folder, "agent.mjs"),
    `import { ask, readRollout } from "./client.mjs";\n${source}`,
  );
  return folder;
}

/** Each call names its task, so one that is in another rollout shows. */
export function expectAttributed(episodes: readonly Episode[], calls: number): void {
  const made = episodes.flatMap(({ task, trajectories }) =>
    trajectories.flatMap(({ steps }) =>
      steps.map(({ trace }) => ({
        task: task.id,
        asked: JSON.stringify(trace.messages.at(-1)?.content),
      })),
    ),
  );
  expect(made).toHaveLength(calls);
  expect(made.filter(({ task, asked }) => !asked.startsWith(`"${task} `))).toEqual([]);
}
