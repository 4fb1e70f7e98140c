/** `agent-trainer chat MODEL`: talks to a model in the terminal, or line by line through a pipe. */
import { createInterface } from "node:readline";
import { AgentTrainerError } from "../../core/errors.ts";
import { missingPackage } from "../../launch/missing-package.ts";
import type { ModelServer } from "../../launch/serve/model-server.ts";
import { defined } from "../../util/defined.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import type { CliIo } from "../terminal/io.ts";
import { colorsFor, safeText } from "../terminal/terminal.ts";

export interface ChatFlags {
  readonly system?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

interface Message {
  readonly role: "assistant" | "system" | "user";
  readonly content: string;
}

interface Delta {
  readonly content?: string | null;
  readonly tool_calls?: readonly { readonly function?: { name?: string; arguments?: string } }[];
}

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
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("data: {")) continue;
      const event = JSON.parse(line.slice(6)) as {
        readonly choices?: readonly { readonly delta?: Delta }[];
        readonly error?: { readonly message?: string };
      };
      if (event.error !== undefined) {
        throw new AgentTrainerError({ code: "INTERNAL", message: event.error.message ?? "" });
      }
      yield textOf(event.choices?.[0]?.delta ?? {});
    }
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

/** Runs the command; resolves with the exit status. */
export async function chatCommand(
  model: string,
  flags: ChatFlags,
  io: CliIo,
  input: NodeJS.ReadableStream = process.stdin,
): Promise<number> {
  const ended = new AbortController();
  let responding: AbortController | null = null;
  const isTerminal = (input as { readonly isTTY?: boolean }).isTTY === true;
  const lines = createInterface({
    input,
    terminal: isTerminal,
    ...(isTerminal ? { output: process.stdout } : {}),
  });
  // Lines that come while a response is written wait for their turn.
  const queue: string[] = [];
  let wake: (() => void) | undefined;
  const state = { isClosed: false };
  lines.on("line", (line) => {
    queue.push(line);
    wake?.();
  });
  lines.on("close", () => {
    state.isClosed = true;
    wake?.();
  });
  const onInterrupt = (): void => {
    if (responding !== null) responding.abort();
    else {
      ended.abort();
      lines.close();
    }
  };
  lines.on("SIGINT", onInterrupt);
  process.on("SIGINT", onInterrupt);
  try {
    await using server = await open(model, ended.signal);
    const name = server.models[0] as string;
    const colors = colorsFor(io.stderr);
    if (flags.quiet !== true) io.stderr.write(`${name}. ${help}`);
    const start: Message[] =
      flags.system === undefined ? [] : [{ role: "system", content: flags.system }];
    let messages = start;
    const next = async (): Promise<string | null> => {
      if (isTerminal) lines.prompt();
      while (queue.length === 0 && !state.isClosed) {
        await new Promise<void>((resolve) => (wake = resolve));
      }
      return queue.shift() ?? null;
    };
    let isFailed = false;
    for (let line = await next(); line !== null && line !== "/exit"; line = await next()) {
      if (line.trim() === "") continue;
      if (line === "/reset") {
        messages = start;
        continue;
      }
      const asked: Message[] = [...messages, { role: "user", content: line }];
      responding = new AbortController();
      let text = "";
      try {
        const body = JSON.stringify({
          model: name,
          messages: asked,
          stream: true,
          ...defined({ temperature: flags.temperature, max_tokens: flags.maxTokens }),
        });
        const request = new Request("http://127.0.0.1/v1/chat/completions", {
          method: "POST",
          body,
          signal: responding.signal,
        });
        for await (const delta of deltas(await server.fetch(request))) {
          text += delta;
          if (flags.json !== true) io.stdout.write(safeText(delta));
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
      io.stdout.write(
        flags.json === true ? `${JSON.stringify({ request: line, response: text })}\n` : "\n",
      );
      messages = [...asked, { role: "assistant", content: text }];
    }
    // A person has seen the error; a program that pipes its input looks at the exit code.
    return isFailed && !isTerminal ? exitCodes.failed : exitCodes.done;
  } finally {
    process.off("SIGINT", onInterrupt);
    lines.close();
  }
}
