/** A chat in the terminal, or line by line through a pipe. */
import { createInterface } from "node:readline";
import { exitCodes } from "../terminal/exit-codes.ts";
import { type CliIo, writeResult } from "../terminal/io.ts";
import { colorsFor, safeText } from "../terminal/terminal.ts";
import type { Speaker } from "./speaker.ts";

export interface TalkOptions {
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

const help = `/reset forgets the conversation, /exit or Ctrl-D ends it, Ctrl-C stops a response.\n`;

/** Writes the response to one line. @throws what the speaker throws; what came before is written then */
async function respond(
  speaker: Speaker,
  request: string,
  { json }: TalkOptions,
  io: CliIo,
  signal: AbortSignal,
): Promise<void> {
  let response = "";
  const end = (): void => writeResult(io, json, { request, response }, "\n");
  try {
    for await (const part of speaker.respond(request, signal)) {
      response += part;
      if (json !== true) io.stdout.write(safeText(part));
    }
  } catch (error) {
    if (signal.aborted) {
      io.stderr.write(colorsFor(io.stderr).dim(" (stopped)"));
      end();
    }
    throw error;
  }
  end();
}

/**
 * Resolves with the exit status.
 * @param open loads what responds; its signal is aborted by Ctrl-C
 */
export async function talk(
  open: (signal: AbortSignal) => Promise<Speaker>,
  options: TalkOptions,
  io: CliIo,
  input: NodeJS.ReadableStream = process.stdin,
): Promise<number> {
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
  let speaker: Speaker | null = null;
  try {
    speaker = await open(ended.signal);
    const colors = colorsFor(io.stderr);
    if (options.quiet !== true) io.stderr.write(`${speaker.name}. ${help}`);
    let isFailed = false;
    for (let line = await next(); line !== null && line !== "/exit"; line = await next()) {
      if (line === "/reset") speaker.reset();
      if (line === "/reset" || line.trim() === "") continue;
      responding = new AbortController();
      try {
        await respond(speaker, line, options, io, responding.signal);
      } catch (error) {
        if (responding.signal.aborted) continue;
        isFailed = true;
        io.stderr.write(`${colors.red("error:")} ${(error as Error).message}\n`);
      } finally {
        responding = null;
      }
    }
    // A person has seen the error; a program that pipes its input looks at the exit code.
    return isFailed && !isTerminal ? exitCodes.failed : exitCodes.done;
  } finally {
    process.off("SIGINT", onInterrupt);
    lines.close();
    await speaker?.[Symbol.asyncDispose]();
  }
}
