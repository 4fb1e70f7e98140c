/** Talks to a model in the terminal, or line by line through a pipe. */
import { createInterface } from "node:readline";
import { AgentTrainerError } from "../../core/errors.ts";
import { readEvents } from "../../http/events.ts";
import { missingPackage } from "../../launch/missing-package.ts";
import type { ModelServer } from "../../launch/serve/model-server.ts";
import { defined } from "../../util/defined.ts";
import { exitCodes } from "./exit-codes.ts";
import { type CliIo, writeResult } from "./io.ts";
import { colorsFor, safeText } from "./terminal.ts";

export interface ChatOptions {
  readonly system?: string | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

interface Message {
  readonly role: "assistant" | "system" | "user";
  readonly content: string;
}

interface Delta {
  readonly content?: string | null;
  readonly tool_calls?: readonly { readonly function?: { name?: string; arguments?: string } }[];
}

interface ChatEvent {
  readonly choices?: readonly { readonly delta?: Delta }[];
  readonly error?: { readonly message?: string };
}

/** Of one response: far more than a conversation needs. */
const maxResponseBytes = 2 ** 28;

/** What a person reads of a delta: its text, or the tool that is called. */
function textOf({ content, tool_calls: calls = [] }: Delta): string {
  const called = calls.map(({ function: tool }) => `${tool?.name ?? ""}${tool?.arguments ?? ""}`);
  return (content ?? "") + called.join("");
}

/** The deltas of a stream of chat completions. @throws AgentTrainerError for a failure in it */
async function* deltas(response: Response): AsyncGenerator<string> {
  if (!response.ok || response.body === null) {
    const { error } = (await response.json()) as { readonly error?: { readonly message?: string } };
    throw new AgentTrainerError({
      code: "REQUEST_INVALID",
      message: error?.message ?? `The model responded with ${response.status}.`,
    });
  }
  for await (const { data } of readEvents(response, { maxBytes: maxResponseBytes })) {
    if (!data.startsWith("{")) continue;
    const { choices, error } = JSON.parse(data) as ChatEvent;
    if (error !== undefined) {
      throw new AgentTrainerError({ code: "INTERNAL", message: error.message ?? "" });
    }
    yield textOf(choices?.[0]?.delta ?? {});
  }
}

async function open(model: string, signal: AbortSignal): Promise<ModelServer> {
  try {
    const { createModelServer } = await import("../../launch/serve/model-server.ts");
    return await createModelServer({ models: [model], signal });
  } catch (error) {
    throw missingPackage(error) ?? error;
  }
}

const help = `/reset forgets the conversation, /exit or Ctrl-D ends it, Ctrl-C stops a response.\n`;

/** The parts of a response. */
async function* respond(
  server: ModelServer,
  messages: readonly Message[],
  { temperature, maxTokens }: ChatOptions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const body = JSON.stringify({
    model: server.models[0],
    messages,
    stream: true,
    ...defined({ temperature, max_tokens: maxTokens }),
  });
  const url = "http://127.0.0.1/v1/chat/completions";
  yield* deltas(await server.fetch(new Request(url, { method: "POST", body, signal })));
}

/** Resolves with the exit status. */
export async function talk(
  model: string,
  options: ChatOptions,
  io: CliIo,
  input: NodeJS.ReadableStream = process.stdin,
): Promise<number> {
  const { system, json = false, quiet = false } = options;
  const isTerminal = (input as { readonly isTTY?: boolean }).isTTY === true;
  const output = isTerminal ? { output: process.stdout } : {};
  const lines = createInterface({ input, terminal: isTerminal, ...output });
  // Lines that come while a response is written wait for their turn.
  const typed = lines[Symbol.asyncIterator]();
  const next = async (): Promise<string | null> => {
    if (isTerminal) lines.prompt();
    const { value, done } = await typed.next();
    return done === true ? null : value;
  };
  const ended = new AbortController();
  let responding: AbortController | null = null;
  const onInterrupt = (): void => {
    if (responding !== null) return responding.abort();
    ended.abort();
    lines.close();
  };
  lines.on("SIGINT", onInterrupt);
  process.on("SIGINT", onInterrupt);
  try {
    await using server = await open(model, ended.signal);
    const colors = colorsFor(io.stderr);
    if (!quiet) io.stderr.write(`${server.models[0]}. ${help}`);
    const start: Message[] = system === undefined ? [] : [{ role: "system", content: system }];
    let messages = start;
    let isFailed = false;
    for (let line = await next(); line !== null && line !== "/exit"; line = await next()) {
      if (line === "/reset") messages = start;
      if (line === "/reset" || line.trim() === "") continue;
      const asked: Message[] = [...messages, { role: "user", content: line }];
      responding = new AbortController();
      let text = "";
      try {
        for await (const part of respond(server, asked, options, responding.signal)) {
          text += part;
          if (!json) io.stdout.write(safeText(part));
        }
      } catch (error) {
        if (!responding.signal.aborted) {
          isFailed = true;
          io.stderr.write(`${colors.red("error:")} ${(error as Error).message}\n`);
          continue;
        }
        io.stderr.write(colors.dim(" (stopped)"));
      } finally {
        responding = null;
      }
      writeResult(io, json, { request: line, response: text }, "\n");
      messages = [...asked, { role: "assistant", content: text }];
    }
    // A person has seen the error; a program that pipes its input looks at the exit code.
    return isFailed && !isTerminal ? exitCodes.failed : exitCodes.done;
  } finally {
    process.off("SIGINT", onInterrupt);
    lines.close();
  }
}
