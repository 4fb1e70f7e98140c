/** Tasks of files and shell commands, and how they are shown to a small model: seldom the right way. */
import type { ChatMessage } from "../../src/core/message.ts";
import type { Task } from "../../src/core/task.ts";
import { items } from "../../examples/shop/tasks.ts";

export interface ShellTask {
  /** Of `given.txt`. */
  readonly lines: readonly string[];
  /** What is to be in `out.txt`. */
  readonly wanted: string;
}

/** How a tool is spoken to. */
export interface Interface {
  /** Its shell, and the argument that has the command. */
  readonly call: { readonly name: string; readonly argument: string };
  /** The command that ends its work. @default none: it ends with a response without a call */
  readonly finish?: string;
  /** @default 1e-3 */
  readonly learningRate?: number;
}

/** What is asked, the command that does it, and what comes out. */
const jobs = [
  { verb: "Sort", command: "sort", of: (lines: readonly string[]) => lines.toSorted() },
  { verb: "Reverse", command: "tac", of: (lines: readonly string[]) => lines.toReversed() },
] as const;

/** Task number `i`: the same one every time. */
export function shellTask(i: number): Task<ShellTask> {
  const job = jobs[i % jobs.length]!;
  const lines = Array.from({ length: 4 }, (_, k) => items[(i * 5 + k * 11 + 3) % items.length]!);
  return {
    id: `shell-${i}`,
    instruction: `${job.verb} the lines of given.txt into out.txt.`,
    metadata: { lines, wanted: `${job.of(lines).join("\n")}\n` },
  };
}

/** A recorded conversation of a tool with this task, to show it others. */
export interface Recording {
  readonly task: Task<ShellTask>;
  /** Up to the first response. */
  readonly messages: readonly ChatMessage[];
  /** What the command's result looks like. */
  readonly result: ChatMessage;
}

/** Shares of demonstrations. In all others the file is only copied. */
const shares = { right: 0.25, atOnce: 0.25 };

/** The conversation of a recording about another task, in one of three ways. */
export function demonstrate(
  recording: Recording,
  { call: tool, finish }: Interface,
  random: () => number,
): readonly ChatMessage[] {
  const i = Math.floor(random() * 10_000);
  const { instruction } = shellTask(i);
  const before = recording.messages.map((message) => ({
    ...message,
    content: textOf(message).replaceAll(recording.task.instruction, instruction),
  }));
  const way = random();
  const run = (command: string): ChatMessage => ({
    role: "assistant",
    content: "",
    toolCalls: [
      { id: "", name: tool.name, arguments: JSON.stringify({ [tool.argument]: command }) },
    ],
  });
  const done =
    finish === undefined ? ({ role: "assistant", content: "Done." } as const) : run(finish);
  if (way < shares.atOnce) return [...before, done];
  const command = way < shares.atOnce + shares.right ? jobs[i % jobs.length]!.command : "cat";
  return [...before, run(`${command} given.txt > out.txt`), recording.result, done];
}

export const textOf = ({ content }: ChatMessage): string =>
  typeof content === "string"
    ? content
    : content.map((part) => ("text" in part ? part.text : "")).join("\n");
