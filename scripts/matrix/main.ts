/**
 * `npm run matrix`: every framework in examples/frameworks/, on several versions of Node, through the real
 * gateway: calls that it made, calls that were captured, and the reward of a short training. Writes the table
 * of docs/frameworks.md.
 */
import { parseArgs } from "node:util";
import { startServer } from "../../src/agents/http/agent-server.ts";
import { installFramework, installNode } from "./install.ts";
import { measureCapture } from "./capture.ts";
import { measureTraining } from "./training.ts";
import { type Framework, frameworks, type Row } from "./rows.ts";
import { writeTable } from "./table.ts";

const { values: flags } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    node: { type: "string", multiple: true },
    quick: { type: "boolean" },
    json: { type: "boolean" },
    "no-training": { type: "boolean" },
    "no-table": { type: "boolean" },
  },
});
const isQuick = flags.quick === true;
const nodes = (flags.node ?? (isQuick ? [] : ["20", "22", "24"])).map(Number);
const steps = isQuick ? 6 : 18;

async function measureRow(
  framework: Framework,
  packages: Readonly<Record<string, string>>,
  node: number,
): Promise<Row> {
  const startedAt = performance.now();
  const { folder, version, args, interpreter, lines } = installFramework(framework, packages);
  const program = installNode(node);
  const server = await startServer({
    command: [interpreter ?? program, ...args],
    folder,
    env: {},
    passEnv: [],
    memoryMb: undefined,
    readyMs: 60_000,
  });
  try {
    const url = `http://127.0.0.1:${server.port}/rollout`;
    const tool = framework.name === "claude-agent-sdk" ? "mcp__shop__get_price" : "get_price";
    const rollouts = framework.rollouts ?? 512;
    const { error, ...capture } = await measureCapture(url, rollouts, tool);
    const skips = framework.untrained !== undefined || flags["no-training"] === true;
    const trained = skips
      ? { rewardFirst: null, rewardLast: null }
      : await measureTraining(url, steps);
    const notes = [
      framework.untrained,
      flags["no-training"] === true ? "not trained in this run" : undefined,
      error?.split("\n").slice(0, 3).join(" ").slice(0, 200),
    ].filter((note) => note !== undefined);
    return {
      framework: framework.name,
      version,
      node: interpreter === null ? String(node) : "Python",
      protocol: framework.protocol,
      lines,
      ...capture,
      ...trained,
      seconds: (performance.now() - startedAt) / 1000,
      ...(notes.length === 0 ? {} : { note: notes.join("; ") }),
    };
  } finally {
    await server.stop();
  }
}

const rows: Row[] = [];
for (const framework of frameworks) {
  if (flags.only !== undefined && !flags.only.includes(framework.name)) continue;
  for (const packages of isQuick ? framework.versions.slice(0, 1) : framework.versions) {
    const wanted =
      framework.isPython === true ? [20] : nodes.length === 0 ? [framework.node] : nodes;
    // Older majors run on older Node.
    const oldest = packages === framework.versions[0] ? framework.node : 20;
    for (const node of wanted.filter((one) => one >= oldest)) {
      try {
        rows.push(await measureRow(framework, packages, node));
      } catch (error) {
        const note = (error instanceof Error ? error.message : String(error)).slice(0, 300);
        const [version = "–"] = Object.values(packages);
        const none = { lines: 0, calls: 0, captured: 0, misattributed: 0, seconds: 0 };
        const { name, protocol } = framework;
        const of = { framework: name, version, node: String(node), protocol };
        rows.push({
          ...of,
          ...none,
          rewardFirst: null,
          rewardLast: null,
          note: note.replaceAll("\n", " "),
        });
      }
      process.stderr.write(`${JSON.stringify(rows.at(-1))}\n`);
      if (flags["no-table"] !== true) writeTable(rows);
    }
  }
}
if (flags.json === true) process.stdout.write(`${JSON.stringify({ rows })}\n`);
const isComplete = rows.every(
  ({ calls, captured, misattributed }) => calls > 0 && calls === captured && misattributed === 0,
);
process.exitCode = isComplete ? 0 : 1;
