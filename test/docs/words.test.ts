/**
 * Words that the field has a standard term for do not come back: in sources, documents, or the help of
 * any command. Camel-case names are checked word by word.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CommandEntry, commandTable } from "../../src/cli/command-table.ts";
import { runCli } from "../../src/cli/program.ts";
import { pages, readPage, root } from "./pages.ts";

/** What is retired, and what to write. */
const retired: readonly (readonly [RegExp, string])[] = [
  [/\bdraw(?:s|n|ing)?\b/, "sample"],
  [/\bslopes?\b/, "gradient"],
  // "Several calls in turns with the role ..." are turns of a conversation.
  [/\bin turns\b(?! with)/, "synchronously"],
  [/\boverlapped\b/, "asynchronous"],
  [/\bexchang\w*.{0,24}\bweights?\b|\bweights?\b.{0,24}\bexchang/, "weight sync"],
  [/\bways? in\b(?! which)/, "interface"],
  [/\bhonou?r/, "support"],
  [/\btrip ?wires?\b|\btripped\b/, "limit exceeded"],
  [/\bfleets?\b/, "pool"],
  [/\bdialects?\b/, "format, adapter"],
  [/\btrunks?\b/, "shared prefix"],
  [/\blanes?\b/, "decode bucket"],
  [/\bparked\b/, "preempted"],
  [/\bin company\b/, "batch-invariant"],
  [/\bdice\b/, "seed"],
  [/\bpunish/, "penalty"],
  [/\bwhoever\b|\b(?:no|some|any|every)body\b/, "name the component"],
  [/\bbeside\b/, "next to, in addition to"],
  [/\bof (?:its|your|their|his|our|my|one's) own\b/, "custom, separate"],
  [/\bunder way\b/, "in flight, running"],
  [/\bfor good\b/, "permanently"],
  [/\b(?:go|goes|going|went) on with\b|\bto go on\b/, "resume, continue"],
  [/\bmisspelt\b|\blearnt\b/, "misspelled, learned"],
  [/\bdata sets?\b|\bdata bases?\b/, "dataset, database"],
  [/\bset-up\b|\btear-down\b/, "setup, teardown"],
  [/\b(?:write|writes|written|wrote)(?: \w+)? aside\b/, "atomic write"],
  [/\b(?:un)?judged\b/, "scored"],
  [/\blikel(?:iest|ier)\b/, "most likely, more probable"],
  [/\bchances\b/, "probabilities"],
  [/\b(?:told|tells?) of\b/, "receive, report"],
  [/\bforeign keys?\b/, "compatible keys"],
  [/\bcompanion files?\b/, "model assets"],
  [/\bno finite number\b/, "not finite"],
  [
    /(?<!\b(?:there|this) )\b(?:is|are|was) no (?:json|run|number|string|object|array|folder|file|list|map|function|checkpoint)\b/,
    "is not JSON, is not a run",
  ],
  [/\bwithout a word\b|\bno words? for\b/, "silently, not supported"],
  [/\bright and wrong\b|\bright or wrong\b/, "correct and incorrect"],
];

/** Where a retired word is the right one: the path, and what stands in the line. */
const allowed: readonly (readonly [RegExp, RegExp])[] = [];

const camelCase = /(?<=[a-z\d])(?=[A-Z])/gu;
const plain = (text: string): string => text.replaceAll(camelCase, " ").toLowerCase();

const anyRetired = new RegExp(retired.map(([word]) => word.source).join("|"), "u");

/** `file:line word (use ...)` of each retired word. */
function retiredIn(file: string, text: string): readonly string[] {
  if (!anyRetired.test(plain(text))) return [];
  const fine = allowed.filter(([path]) => path.test(file));
  return text.split("\n").flatMap((line, i) => {
    if (fine.some(([, pattern]) => pattern.test(line))) return [];
    const words = plain(line);
    return retired.flatMap(([word, use]) => {
      const found = word.exec(words);
      return found === null ? [] : [`${file}:${i + 1} "${found[0]}" (use: ${use})`];
    });
  });
}

const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));

/** Released versions are history. */
const unreleased = (page: string): string => page.split(/^## \[\d/mu)[0]!;

async function helpOf(...command: string[]): Promise<string> {
  let text = "";
  const stream = { write: (part: string) => (text += part) };
  await runCli([...command, "--help"], { stdout: stream, stderr: stream });
  return text;
}

type Commands = Readonly<Record<string, CommandEntry>>;

/** Of these commands and those below them. */
async function helpsOf(
  commands: Commands,
  ...path: string[]
): Promise<readonly (readonly [string, string])[]> {
  const entries = Object.entries(commands).map(async ([name, entry]) => [
    [["agent-trainer", ...path, name].join(" "), await helpOf(...path, name)] as const,
    ...(await helpsOf(typeof entry === "string" ? {} : (entry.commands ?? {}), ...path, name)),
  ]);
  return (await Promise.all(entries)).flat();
}

async function everyHelp(): Promise<readonly (readonly [string, string])[]> {
  const below = await Promise.all(Object.values(commandTable).map((one) => helpsOf(one)));
  return [["agent-trainer", await helpOf()], ...below.flat()];
}

describe("retired words", () => {
  it("are found, in names too", () => {
    const found = retiredIn(
      "x.ts",
      "const drawKey = 1; // A data set beside it\nconst own = draws;",
    );
    expect(found.map((line) => line.split(" (")[0])).toEqual([
      'x.ts:1 "draw"',
      'x.ts:1 "beside"',
      'x.ts:1 "data set"',
      'x.ts:2 "draws"',
    ]);
  });

  it("are not in the sources", () => {
    const read = (file: string): string => readFileSync(join(root, "src", file), "utf8");
    expect(sources.flatMap((file) => retiredIn(`src/${file}`, read(file)))).toEqual([]);
  });

  it("are not in the documents", () => {
    const text = (page: string): string =>
      page === "CHANGELOG.md" ? unreleased(readPage(page)) : readPage(page);
    expect(pages.flatMap((page) => retiredIn(page, text(page)))).toEqual([]);
  });

  it("are not in the help of any command", async () => {
    const helps = await everyHelp();
    const names = helps.map(([name]) => name);
    expect(names).toEqual(
      expect.arrayContaining(["agent-trainer", "agent-trainer train", "agent-trainer gateway"]),
    );
    expect(helps.flatMap(([name, help]) => retiredIn(name, help))).toEqual([]);
  });
});
