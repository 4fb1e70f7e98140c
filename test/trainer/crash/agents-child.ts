/** A training whose agents never answer, next to servers that never do, in a process that is going to be killed. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandAgent } from "../../../src/rollouts/agents/command/command-agent.ts";
import { startServer } from "../../../src/rollouts/agents/http/agent-server.ts";
import { watchInterrupt } from "../../../src/cli/terminal/interrupt.ts";
import { McpSource } from "../../../src/environments/mcp/mcp-source.ts";
import { BridgeProcess } from "../../../src/environments/bridge-process.ts";
import { coinTrainer } from "../coin-run.ts";

/** What the child is given. */
export interface AgentsRun {
  readonly outputDir: string;
  /** In the command line of all that is started. */
  readonly token: string;
  readonly script: string;
  /** Whether the signals of a terminal stop the run, as in the command line. */
  readonly interrupts: boolean;
}

const { outputDir, token, script, interrupts } = JSON.parse(process.argv[2] ?? "") as AgentsRun;
const { signal } = interrupts
  ? watchInterrupt({ stdout: process.stdout, stderr: process.stdout }, "stopping")
  : new AbortController();
const { trainer } = coinTrainer({
  outputDir,
  resume: "auto",
  agentFlow: commandAgent({ command: ["sh", script, token], graceMs: 600_000 }),
  signal,
  onEvent: ({ type }) => {
    if (type === "run-start") process.stdout.write("started\n");
  },
  set: { "workflow.n_parallel_tasks": 4 },
});
const python = join(outputDir, `python-${token}`);
writeFileSync(python, `#!/bin/sh\nexec sh ${script} ${token}\n`);
chmodSync(python, 0o755);
const never = new AbortController().signal;
const module = "agent_trainer_gym";
const gym = {
  name: "gym",
  python,
  module,
  args: ["x"],
  needs: "reasoning_gym",
  setup: "",
} as const;
const task = { id: "1", instruction: "?", metadata: {} };
await Promise.all([
  trainer.train(),
  new McpSource({ server: `sh ${script} ${token}` }).open(task, { signal: never }),
  new BridgeProcess(gym).request("tasks", {}, never),
  startServer({
    command: ["sh", script, token],
    folder: outputDir,
    passEnv: [],
    env: {},
    readyMs: 600_000,
    memoryMb: undefined,
  }),
]);
