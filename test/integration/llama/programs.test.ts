/**
 * The programs `llama-server` and `ollama` where LLAMA_SERVER and OLLAMA name them: SmolLM2-135M-Instruct with a random
 * adapter, exported in one file and in two, says what `agent-trainer serve` says, with tools and without.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCli } from "../../../src/cli/program.ts";
import { freePort } from "../../free-port.ts";
import { root } from "../root.ts";
import { startServer } from "../server-process.ts";
import { writeRandomAdapter } from "./random-adapter.ts";
import { smollm2 } from "./smollm2.ts";

const { LLAMA_SERVER: llamaServer, OLLAMA: ollama } = process.env;
const folder = mkdtempSync(join(tmpdir(), "llama-programs-"));
afterAll(() => rmSync(folder, { recursive: true }));

const tool = (name: string, ...names: readonly string[]): object => {
  const properties = Object.fromEntries(names.map((one) => [one, { type: "string" }]));
  return { type: "function", function: { name, parameters: { type: "object", properties } } };
};
const tools = [tool("get_price", "item"), tool("multiply", "a", "b")];
const system = { role: "system", content: "You are a shop assistant." };
const user = (content: string): object => ({ role: "user", content });
const called = { name: "get_price", arguments: '{"item": "coat"}' };
const calls = [
  { role: "assistant", content: "", tool_calls: [{ id: "a", type: "function", function: called }] },
  { role: "tool", tool_call_id: "a", content: "90" },
];
const requests: readonly object[] = [
  { messages: [system, user("What is the capital of France?")] },
  { messages: [user("Name three colors.")] },
  { messages: [system, user("How much do 2 coats cost?")], tools },
  { messages: [system, user("How much do 2 coats cost?"), ...calls], tools },
];

interface Completion {
  readonly choices: readonly { readonly message: { readonly content: string | null } }[];
  readonly usage: { readonly prompt_tokens: number };
}

/** Length of each prompt in tokens and its greedy continuation. */
async function answersOf(
  url: string,
  model: string,
): Promise<readonly (readonly [number, string])[]> {
  const answers: (readonly [number, string])[] = [];
  for (const request of requests) {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model, temperature: 0, max_tokens: 16, ...request }),
    });
    const body = (await response.json()) as Completion;
    expect(response.status, JSON.stringify(body)).toBe(200);
    answers.push([body.usage.prompt_tokens, body.choices[0]!.message.content ?? ""]);
  }
  return answers;
}

async function served(
  command: string,
  args: (port: string) => readonly string[],
  health: string,
  model: string,
  prepare: (port: string) => Readonly<Record<string, string>> = () => ({}),
  ready: (env: Readonly<Record<string, string>>) => Promise<void> = () => Promise.resolve(),
): Promise<readonly (readonly [number, string])[]> {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const env = prepare(port);
  await using _ = await startServer({
    command,
    args: args(port),
    env,
    healthUrl: `${url}${health}`,
    limitMs: 120_000,
  });
  await ready(env);
  return await answersOf(url, model);
}

const file = (part: string): string => join(folder, `${part}.gguf`);
let expected: readonly (readonly [number, string])[] = [];

beforeAll(async () => {
  if (llamaServer === undefined && ollama === undefined) return;
  const adapter = await writeRandomAdapter(smollm2(), join(folder, "trained"));
  const quiet = { stdout: { write: () => undefined }, stderr: process.stderr };
  const write = async (into: string, ...flags: readonly string[]): Promise<void> => {
    const args = [
      "model",
      "export",
      adapter,
      ...flags,
      "--dtype",
      "f32",
      "--into",
      into,
      "--quiet",
    ];
    if ((await runCli(args, quiet)) !== 0) throw new Error(`${into} could not be exported.`);
  };
  for (const part of ["merged", "base", "adapter"])
    await write(file(part), "--format", "gguf", "--part", part);
  const whole = join(folder, "whole");
  await write(whole, "--format", "hf");
  const main = join(root, "dist", "cli", "main.js");
  const args = (port: string): readonly string[] => [main, "serve", whole, "--port", port];
  expected = await served(process.execPath, args, "/health", "whole");
}, 600_000);

it.skipIf(llamaServer === undefined).each([
  ["merged", ["-m", file("merged")]],
  ["base and adapter", ["-m", file("base"), "--lora", file("adapter")]],
])("llama-server: %s", { timeout: 600_000 }, async (_, model) => {
  const args = (port: string): readonly string[] => [...model, "--port", port, "-c", "2048"];
  expect(await served(llamaServer!, args, "/health", "any")).toEqual(expected);
});

it.skipIf(ollama === undefined).each([
  ["merged", `FROM ${file("merged")}`],
  ["base and adapter", `FROM ${file("base")}\nADAPTER ${file("adapter")}`],
])("ollama: %s", { timeout: 600_000 }, async (name, modelfile) => {
  const path = join(folder, "Modelfile");
  writeFileSync(path, `${modelfile}\n`);
  const model = name.replaceAll(" ", "-");
  const settings = (port: string): Readonly<Record<string, string>> => ({
    OLLAMA_HOST: `127.0.0.1:${port}`,
    OLLAMA_MODELS: join(folder, "ollama"),
    HOME: folder,
  });
  // Not synchronously: what the server writes has to be read meanwhile.
  const create = async (env: Readonly<Record<string, string>>): Promise<void> => {
    const options = { env: { ...process.env, ...env } };
    await promisify(execFile)(ollama!, ["create", model, "-f", path], options);
  };
  expect(await served(ollama!, () => ["serve"], "/api/version", model, settings, create)).toEqual(
    expected,
  );
});
