/** One row of the matrix: what is installed, started, loaded, and trained for it. */
import { commandAgent } from "../../src/rollouts/agents/command/command-agent.ts";
import { httpAgent } from "../../src/rollouts/agents/http/http-agent.ts";
import { startServer } from "../../src/rollouts/agents/http/agent-server.ts";
import { type Capture, madeBy, measureCapture } from "./capture.ts";
import type { CommandLineAgent } from "./command-line.ts";
import { installCommandLineAgent, installFramework, installNode } from "./install.ts";
import { dialects } from "./script.ts";
import { type Framework, oldestNode, type Row } from "./rows.ts";
import { measureTraining } from "./training.ts";

/** Where a rollout costs little. */
const manyCalls = 1024;
/** Where each rollout starts a process: few rollouts of many calls each. */
const long = { rollouts: 16, toolCalls: 64, timeoutMs: 500_000 } as const;

const untrained = { rewardFirst: null, rewardLast: null, steps: null } as const;

const notesOf = (...notes: readonly (string | null | undefined)[]): { readonly note?: string } => {
  const given = notes.filter((note) => note !== undefined && note !== null);
  const lines = given.map((note) => note.split("\n").slice(0, 3).join(" ").slice(0, 200));
  return lines.length === 0 ? {} : { note: lines.join("; ") };
};

/**
 * @param steps of the training; 0 for none
 * @param calls of all rollouts
 */
export async function measureFramework(
  framework: Framework,
  packages: Readonly<Record<string, string>>,
  node: number,
  steps: number,
  calls: number = manyCalls,
): Promise<Row> {
  const startedAt = performance.now();
  const { name, protocol, startsProcesses = false, turns = 1, dialect = "native" } = framework;
  const { requirement } = framework;
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
    const { error, ...capture } = await measureCapture({
      flow: httpAgent({ url, ...(framework.sideCalls && { sideCalls: framework.sideCalls }) }),
      rollouts: calls / (2 * turns),
      ...(startsProcesses || requirement !== undefined ? {} : { made: () => madeBy(url) }),
      ...(startsProcesses ? { ...long, toolCalls: Math.ceil(calls / long.rollouts) } : {}),
      dialect: dialects[dialect],
      call: () => ({ name: framework.tool ?? "get_price", arguments: { item: "lamp" } }),
    });
    const isTrained =
      steps > 0 &&
      framework.untrained === undefined &&
      requirement === undefined &&
      node === oldestNode(framework, packages);
    return {
      framework: name,
      version,
      node: interpreter === null ? String(node) : "Python",
      protocol,
      lines,
      ...capture,
      ...(isTrained ? { ...(await measureTraining(url, steps)), steps } : untrained),
      seconds: (performance.now() - startedAt) / 1000,
      ...notesOf(framework.note, framework.untrained, error),
    };
  } finally {
    await server.stop();
  }
}

/** A tool's own prompt and shell; its result comes from a command, not from the text of the call. */
export async function measureCommandLine(agent: CommandLineAgent): Promise<Row> {
  const startedAt = performance.now();
  const { name, protocol, isNode } = agent;
  const { program, version } = installCommandLineAgent(agent);
  const { error, ...capture }: Capture = await measureCapture({
    flow: commandAgent(agent.options({ program, timeoutMs: long.timeoutMs })),
    ...long,
    toolCalls: agent.toolCalls ?? long.toolCalls,
    call: (i) => agent.shell(`printf 'PRICE%s' -${i}`),
  });
  return {
    framework: name,
    version,
    node: isNode ? process.versions.node.split(".")[0]! : "–",
    protocol,
    lines: 0,
    ...capture,
    ...untrained,
    seconds: (performance.now() - startedAt) / 1000,
    ...notesOf(agent.note, error),
  };
}
