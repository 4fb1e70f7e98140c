/**
 * `npm run matrix`: every framework in examples/frameworks/, on several versions of Node, and command-line
 * agents, through the real gateway: calls that were made, calls that were captured, and the reward of a short
 * training. Writes the table of docs/frameworks.md; rows that were not run now stay as they are.
 */
import { parseArgs } from "node:util";
import { commandLineAgents } from "./command-line.ts";
import { measureCommandLine, measureFramework } from "./measure.ts";
import { frameworks, nodeMajors, oldestNode, type Row } from "./rows.ts";
import { writeTable } from "./table.ts";

const { values: flags } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    node: { type: "string", multiple: true },
    quick: { type: "boolean" },
    calls: { type: "string" },
    json: { type: "boolean" },
    "no-training": { type: "boolean" },
    "no-table": { type: "boolean" },
  },
});
const isQuick = flags.quick === true;
const callsWanted = flags.calls === undefined ? undefined : Number(flags.calls);
const nodes = flags.node?.map(Number);
const steps = flags["no-training"] === true ? 0 : isQuick ? 6 : 18;

/** Names, and majors after an `@`. */
const only = flags.only?.map((text) => text.split("@"));
const isWanted = (names: readonly string[], major?: string): boolean =>
  only === undefined ||
  only.some(([name, wanted]) => names.includes(name!) && (wanted ?? major) === major);

const isNamed = (major: string): boolean => only?.some((one) => one[1] === major) === true;

const known = [...frameworks, ...commandLineAgents].map(({ name }) => name);
const unknown = only?.find(([name]) => !isKnown(name!))?.[0];
if (unknown !== undefined) {
  console.error(`The matrix has no "${unknown}"; it has ${known.join(", ")}.`);
  process.exit(2);
}
function isKnown(name: string): boolean {
  return known.includes(name) || frameworks.some(({ folder }) => folder === name);
}

const rows: Row[] = [];

async function add(
  of: Pick<Row, "framework" | "version" | "node" | "protocol">,
  measure: () => Promise<Row>,
): Promise<void> {
  try {
    rows.push(await measure());
  } catch (error) {
    const text = (error instanceof Error ? error.message : String(error)).slice(0, 300);
    const note = text.replaceAll("\n", " ");
    const none = { lines: 0, calls: 0, captured: 0, misattributed: 0, seconds: 0 };
    rows.push({ ...of, ...none, rewardFirst: null, rewardLast: null, steps: null, note });
  }
  process.stderr.write(`${JSON.stringify(rows.at(-1))}\n`);
  if (flags["no-table"] !== true) writeTable(rows);
}

for (const framework of frameworks) {
  const { name, folder, protocol, isPython = false } = framework;
  for (const packages of framework.versions) {
    const [version = "–"] = Object.values(packages);
    if (!isWanted([name, folder ?? name], version)) continue;
    if (isQuick && packages !== framework.versions[0] && !isNamed(version)) continue;
    const oldest = oldestNode(framework, packages);
    const wanted = isPython || isQuick ? (nodes ?? [oldest]) : (nodes ?? nodeMajors);
    for (const node of wanted.filter((one) => one >= oldest)) {
      await add(
        { framework: name, version, node: isPython ? "Python" : String(node), protocol },
        () => measureFramework(framework, packages, node, steps, callsWanted),
      );
      if (isPython) break;
    }
  }
}
for (const agent of commandLineAgents) {
  const { name, protocol } = agent;
  if (nodes !== undefined || !isWanted([name])) continue;
  await add({ framework: name, version: "–", node: "–", protocol }, () =>
    measureCommandLine(agent),
  );
}
if (flags.json === true) process.stdout.write(`${JSON.stringify({ rows })}\n`);
const isComplete = rows.every(
  ({ calls, captured, misattributed }) => calls > 0 && calls === captured && misattributed === 0,
);
process.exitCode = isComplete ? 0 : 1;
