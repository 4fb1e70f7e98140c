/** A chat in the terminal, or line by line through a pipe, with one speaker or with two side by side. */
import { createInterface } from "node:readline";
import { exitCodes } from "../terminal/exit-codes.ts";
import { type CliIo, writeResult } from "../terminal/io.ts";
import { createLiveLine } from "../terminal/live-line.ts";
import { colorsFor, safeText } from "../terminal/terminal.ts";
import { sideBySide } from "./side-by-side.ts";
import type { Speaker } from "./speaker.ts";

/** With two, the first is what the second was before. */
export type Speakers = readonly [Speaker] | readonly [before: Speaker, after: Speaker];

export interface TalkOptions {
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

const help = `/reset forgets the conversation, /exit or Ctrl-D ends it, Ctrl-C stops a response.\n`;

/** The whole response, for what is only shown once it is complete. */
async function whole(speaker: Speaker, request: string, signal: AbortSignal): Promise<string> {
  let text = "";
  for await (const part of speaker.respond(request, signal)) text += part;
  return text;
}

/** Writes the responses to one line. @throws what a speaker throws; what came before is written then */
async function respond(
  speakers: Speakers,
  request: string,
  { json, quiet = false }: TalkOptions,
  io: CliIo,
  signal: AbortSignal,
): Promise<void> {
  const [first, second] = speakers;
  if (second === undefined) {
    let response = "";
    const end = (): void => writeResult(io, json, { request, response }, "\n");
    try {
      for await (const part of first.respond(request, signal)) {
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
    return end();
  }
  const waiting = createLiveLine({ stream: io.stderr, isQuiet: quiet });
  waiting.show(["responding ..."]);
  const [before, response] = await Promise.all(
    [first, second].map((speaker) => whole(speaker, request, signal)),
  ).finally(() => waiting.clear());
  const { bold } = colorsFor(io.stdout);
  const columns = io.stdout.isTTY === true ? io.stdout.columns : undefined;
  const texts = [
    { title: `before: ${first.name}`, text: safeText(before ?? "") },
    { title: `after: ${second.name}`, text: safeText(response ?? "") },
  ] as const;
  writeResult(io, json, { request, before, response }, sideBySide(texts, columns, bold));
}

/**
 * Resolves with the exit status.
 * @param open loads what responds; its signal is aborted by Ctrl-C
 */
export async function talk(
  open: (signal: AbortSignal) => Promise<Speakers>,
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
  let speakers: Speakers | readonly [] = [];
  try {
    speakers = await open(ended.signal);
    const colors = colorsFor(io.stderr);
    const names = speakers.map(({ name }) => name).join(" and ");
    if (options.quiet !== true) io.stderr.write(`${names}. ${help}`);
    let isFailed = false;
    for (let line = await next(); line !== null && line !== "/exit"; line = await next()) {
      if (line === "/reset") for (const speaker of speakers) speaker.reset();
      if (line === "/reset" || line.trim() === "") continue;
      responding = new AbortController();
      try {
        await respond(speakers, line, options, io, responding.signal);
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
    await Promise.all(speakers.map((speaker) => speaker[Symbol.asyncDispose]()));
  }
}
