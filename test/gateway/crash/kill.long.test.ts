/**
 * kill -9 at random moments under load. The moment is counted from the first call that a client saw the
 * end of in that life, so that a slow machine does not make a kill mean nothing; every sixth comes at
 * any time after the start instead, and is not counted as under load. 36 kills here; `SOAK=1` does 250,
 * of which more than 200 are under load. Neither way of writing needs more than the process to be gone.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Trace } from "../../../src/core/trace.ts";
import { createSqliteTraceStore } from "../../../src/gateway/index.ts";
import { createRandom } from "../../../src/util/random.ts";
import { bundleProgram } from "../../bundle-program.ts";

const kills = process.env["SOAK"] === "1" ? 250 : 36;
const clients = 6;
const maxLoadMs = 60;

const folder = mkdtempSync(join(tmpdir(), "kill-"));
const path = join(folder, "traces.sqlite");
let program = "";
let child: ChildProcess | undefined;
beforeAll(async () => {
  program = await bundleProgram(join(import.meta.dirname, "child.ts"));
});
afterAll(() => {
  child?.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

async function startChild(
  synchronous: "full" | "normal",
): Promise<{ url: string; openMs: number; child: ChildProcess }> {
  const started = spawn(process.execPath, [program, path, synchronous], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  child = started;
  const [line] = (await Promise.race([
    once(started.stdout, "data"),
    once(started, "exit").then(() => Promise.reject(new Error("The gateway did not start."))),
  ])) as [Buffer];
  return { ...(JSON.parse(line.toString()) as { url: string; openMs: number }), child: started };
}

interface Message {
  role: string;
  content: string;
}

interface Client {
  readonly uid: string;
  apiKey: string;
  messages: Message[];
}

/** What clients saw the end of. */
interface Seen {
  readonly uid: string;
  readonly contents: readonly string[];
}

const seen = new Map<string, Seen>();

async function openSession(url: string, uid: string): Promise<string> {
  const response = await fetch(`${url}/sessions`, {
    method: "POST",
    headers: { authorization: "Bearer admin" },
    body: JSON.stringify({ session_id: uid, sampling_params: { temperature: 0.5 } }),
  });
  return ((await response.json()) as { api_key: string }).api_key;
}

interface Chunk {
  id: string;
  choices: { index: number; delta: { content?: string } }[];
}

/** A streamed answer, or null when its end did not come. */
function readStream(text: string, n: number): { id: string; contents: string[] } | null {
  const events = text.split("\n\n").map((event) => event.replace(/^data: /, ""));
  if (events.at(-2) !== "[DONE]") return null;
  const contents = Array.from({ length: n }, () => "");
  const chunks = events.slice(0, -2).map((event) => JSON.parse(event) as Chunk);
  for (const { choices } of chunks) {
    for (const { index, delta } of choices) contents[index] += delta.content ?? "";
  }
  return { id: chunks[0]!.id, contents };
}

async function call(url: string, client: Client, number: number): Promise<void> {
  const n = number % 3 === 0 ? 3 : 1;
  const stream = number % 2 === 0;
  const messages = [...client.messages, { role: "user", content: `question ${number}` }];
  const response = await fetch(`${url}/sessions/${client.uid}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${client.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ messages, n, stream }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  const body = stream ? readStream(text, n) : JSON.parse(text);
  if (body === null) return;
  const contents: string[] =
    body.contents ?? body.choices.map((choice: { message: Message }) => choice.message.content);
  seen.set(body.id, { uid: client.uid, contents });
  // Some go on, some begin again.
  client.messages =
    number % 7 === 6
      ? []
      : [...messages, { role: "assistant", content: contents.at(-1) as string }];
}

function startsWith(tokens: Int32Array, trace: Trace): boolean {
  const start = [...trace.promptIds, ...trace.responseIds];
  return start.every((token, i) => tokens[i] === token);
}

it(`loses and doubles nothing over ${kills} kills`, { timeout: 300_000 }, async () => {
  const random = createRandom(5);
  const team: Client[] = [];
  const openTimes: number[] = [];
  let number = 0;
  let underLoad = 0;
  for (let round = 0; round < kills; round++) {
    const { url, openMs, child: running } = await startChild(round % 2 === 0 ? "full" : "normal");
    openTimes.push(openMs);
    if (round === 0) {
      for (let i = 0; i < clients; i++) {
        const uid = `client-${i}`;
        team.push({ uid, apiKey: await openSession(url, uid), messages: [] });
      }
    }
    const server = { dead: false };
    const loads = team.map(async (client) => {
      while (!server.dead) {
        // After the kill, every failure is the kill's; before it, none may be.
        await call(url, client, number++).catch((error: unknown) => {
          if (!server.dead) throw error;
        });
      }
    });
    const before = seen.size;
    const deadline = performance.now() + 10_000;
    if (round % 6 !== 5) {
      while (seen.size === before && performance.now() < deadline) await sleep(1);
    }
    await sleep(random() * maxLoadMs);
    if (seen.size > before) underLoad++;
    server.dead = true;
    running.kill("SIGKILL");
    await Promise.all(loads);
    if (running.exitCode === null && running.signalCode === null) await once(running, "exit");
  }
  const store = createSqliteTraceStore(path);
  const sessions = store.sessions();
  expect(sessions.map(({ uid }) => uid)).toEqual(team.map(({ uid }) => uid));
  expect(sessions.every(({ sampling }) => sampling.temperature === 0.5)).toBe(true);
  const byResponse = new Map<string, Trace[]>();
  const byId = new Map<string, Trace>();
  let continued = 0;
  for (const { uid } of team) {
    for (const trace of await store.bySession(uid)) {
      byId.set(trace.id, trace);
      const choices = byResponse.get(trace.responseId) ?? [];
      expect(choices.map(({ choice }) => choice)).not.toContain(trace.choice);
      byResponse.set(trace.responseId, [...choices, trace]);
    }
  }
  for (const trace of byId.values()) {
    if (trace.parentId === null) continue;
    continued++;
    expect(startsWith(trace.promptIds, byId.get(trace.parentId) as Trace)).toBe(true);
  }
  for (const [id, { uid, contents }] of seen) {
    const traces = byResponse.get(id) ?? [];
    expect([id, traces.map(({ response }) => response.content)]).toEqual([id, contents]);
    expect(traces.every(({ sessionUid }) => sessionUid === uid)).toBe(true);
  }
  // All choices of a call are there, or none.
  for (const traces of byResponse.values()) expect([1, 3]).toContain(traces.length);
  const unseen = byResponse.size - seen.size;
  console.info(
    `${kills} kills, ${underLoad} under load, ${seen.size} calls seen by clients, ${unseen} stored but not seen, ${continued} continued, opened in at most ${Math.max(...openTimes).toFixed(0)} ms`,
  );
  expect(underLoad).toBeGreaterThanOrEqual(Math.floor((kills * 5) / 6));
  expect(continued).toBeGreaterThan(underLoad);
  await store.close();
});
