/**
 * Trains the built-in model on families of reasoning-gym, one run after the other, and writes what each run's
 * mean reward did: a table for docs/environments.md and all numbers as JSON.
 *
 *   PYTHON=.../python npx tsx --conditions=agent-trainer-source scripts/reasoning-gym/main.ts OUT [FAMILY ...]
 *
 * PYTHON needs openreward and reasoning-gym.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cpus, tmpdir } from "node:os";
import { type AgentFlow, AgentTrainer } from "agent-trainer";

const [out, ...named] = process.argv.slice(2);
if (out === undefined) {
  console.error("Usage: main.ts OUT [FAMILY ...]");
  process.exit(2);
}
/** Short prompts, and answers that a model of a million parameters can write. */
const families =
  named.length > 0
    ? named
    : "gcd letter_counting maze binary_alternation self_reference calendar_arithmetic number_sequence count_bits power_function coin_flip simple_equations products count_primes gsm_symbolic".split(
        " ",
      );
const port = 18_765;
const steps = Number(process.env["STEPS"] ?? 12);
const averaged = 4;

const server = spawn(
  process.env["PYTHON"] ?? "python3",
  [
    join(import.meta.dirname, "../../examples/environments/reasoning_gym_server.py"),
    "--port",
    String(port),
    ...families.flatMap((family) => ["--family", family]),
  ],
  { stdio: "ignore" },
);
const url = `http://127.0.0.1:${port}`;
const isUp = async () => (await fetch(`${url}/health`).catch(() => null))?.ok === true;
while (!(await isUp())) {
  if (server.exitCode !== null) throw new Error("The server of the families ended.");
  await new Promise((resolve) => setTimeout(resolve, 500));
}

/** The first line of one response. The system message is the one that the model was made with. */
const agentFlow: AgentFlow = async (_task, { baseUrl, apiKey, model, signal, environment }) => {
  const system = { role: "system", content: "You are a shop assistant." };
  const messages = [system, ...(environment?.prompt ?? [])];
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages, stop: ["\n"] }),
    signal,
  });
  const { choices } = (await response.json()) as {
    choices: [{ message: { content: string | null } }];
  };
  await environment?.respond?.(choices[0].message.content ?? "", signal);
};

async function train(family: string) {
  const rewards: number[] = [];
  const errors: number[] = [];
  const begun = performance.now();
  const trainer = new AgentTrainer({
    env: `ors:${url}#${family}`,
    agentFlow,
    config: {
      model: { name: "builtin:shop-tiny" },
      data: { trainBatchSize: 8 },
      rollout: { n: 8, train: { maxTokens: 12 } },
      training: { learningRate: 3e-3 },
      trainer: {
        totalBatches: steps,
        outputDir: join(tmpdir(), `reasoning-gym-${family}-${Date.now()}`),
      },
    },
  });
  for await (const event of trainer.events()) {
    if (event.type !== "step-end") continue;
    rewards.push(event.metrics["reward/mean"] ?? 0);
    errors.push((event.metrics["reward/std"] ?? 0) / 8);
  }
  const mean = (values: readonly number[]) =>
    values.reduce((sum, one) => sum + one, 0) / values.length;
  const [first, last] = [rewards.slice(0, averaged), rewards.slice(-averaged)].map(mean) as [
    number,
    number,
  ];
  // Standard error of a mean over as many steps, from the spread within steps.
  const error = Math.sqrt(2) * (mean(errors) / Math.sqrt(averaged));
  const seconds = Math.round((performance.now() - begun) / 1000);
  const learned = last - first > Math.max(0.03, 3 * error);
  return { family, first, last, error, learned, seconds, rewards };
}

const bars = "▁▂▃▄▅▆▇█";
const spark = (rewards: readonly number[]): string => {
  const most = Math.max(...rewards, 1e-9);
  return rewards.map((one) => bars[Math.min(7, Math.floor((8 * one) / most))]).join("");
};

const rows: Awaited<ReturnType<typeof train>>[] = [];
try {
  console.log("| family | first steps | last steps | learned | curve | seconds |");
  console.log("| --- | --- | --- | --- | --- | --- |");
  for (const family of families) {
    const row = await train(family);
    rows.push(row);
    const { first, last, learned, seconds, rewards } = row;
    const cells = [
      family,
      first.toFixed(2),
      last.toFixed(2),
      learned ? "yes" : "no",
      spark(rewards),
      seconds,
    ];
    console.log(`| ${cells.join(" | ")} |`);
    const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
    writeFileSync(
      out,
      `${JSON.stringify({ machine, steps, averaged, families: rows }, null, 1)}\n`,
    );
  }
} finally {
  server.kill();
  await once(server, "exit");
}
