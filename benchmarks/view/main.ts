/**
 * The viewer on a generated run of many calls: how long the index takes, and what opens, filters, tokens and
 * memory cost afterwards. Prints JSON.
 *
 *   npx tsx --conditions=agent-trainer-source benchmarks/view/main.ts [CALLS] [FOLDER]
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { EpisodeFilter } from "../../src/view/api/episodes.ts";
import { startViewServer } from "../../src/view/server/view-server.ts";

const callsPerEpisode = 4;
/** 2,000 steps of a million calls. */
const episodesPerStep = 125;
/** Besides the reward. */
const metricsPerStep = 120;
const [count = "1000000", given] = process.argv.slice(2).filter((one) => !one.startsWith("--"));
const calls = Number(count);
const folder = given ?? mkdtempSync(join(tmpdir(), "agent-trainer-view-bench-"));

/** Plausible lines, written as text since the trainer's own path would take hours. */
function writeRun(): void {
  mkdirSync(join(folder, "episodes"), { recursive: true });
  writeFileSync(join(folder, "config.resolved.yaml"), "model:\n  name: bench\nbackend: local\n");
  for (const name of ["events.jsonl", "metrics.jsonl"]) writeFileSync(join(folder, name), "");
  const words = [
    "price",
    "lamp",
    "table",
    "order",
    "total",
    "refund",
    "ship",
    "tea",
    "milk",
    "desk",
  ];
  const ids = Array.from({ length: 24 }, (_, i) => 100 + i).join(",");
  const logprobs = Array.from({ length: 24 }, (_, i) => (-i / 7).toFixed(6)).join(",");
  const episodes = Math.ceil(calls / callsPerEpisode);
  for (let first = 0, step = 1; first < episodes; first += episodesPerStep, step++) {
    let text = "";
    for (let e = first; e < Math.min(episodes, first + episodesPerStep); e++) {
      const [task, rollout] = [Math.floor(e / 8) % 5000, e % 8];
      const say = (k: number): string =>
        `The ${words[(e + k) % 10]} of ${words[(e * 7 + k) % 10]} number${e} is ${e % 97}.`;
      let messages = `{"role":"user","content":"Question ${task}?"}`;
      const steps: string[] = [];
      for (let k = 0; k < callsPerEpisode; k++) {
        const response = `{"role":"assistant","content":"${say(k)}"}`;
        steps.push(
          `{"trace":{"id":"t${e}-${k}","responseId":"r","sessionUid":"s","trajectoryUid":null,"sequence":${k},"choice":0,"protocol":"openai-chat","model":"m","messages":[${messages}],"tools":[],"response":${response},"promptIds":[${ids}],"responseIds":[${ids}],"logprobs":[${logprobs}],"logprobKind":"raw","stopReason":"${e % 50 === 0 ? "length" : "stop"}","weightVersion":${step},"sampling":{},"parentId":null,"startedAt":0,"finishedAt":500},"reward":0,"done":false}`,
        );
        messages += `,${response},{"role":"tool","toolCallId":"c","content":"${e % 20 === 0 ? "Error: none" : "25"}"}`;
      }
      const reward = (e % 11) / 10;
      text += `{"id":"${step}/task-${task}/${rollout}","task":{"id":"task-${task}","instruction":"Question ${task}?","metadata":{}},"rolloutIndex":${rollout},"trajectories":[{"uid":"u","name":"agent","steps":[${steps.join(",")}],"reward":${reward},"signals":{},"metadata":{}}],"output":"x","isCorrect":${reward > 0.9},"reward":${reward},"metrics":{},"metadata":{},"attempts":1,"terminationReason":"${e % 40 === 0 ? "timeout" : "completed"}"}\n`;
    }
    writeFileSync(join(folder, "episodes", `${String(step).padStart(6, "0")}.jsonl`), text);
    const others = Array.from({ length: metricsPerStep }, (_, i): [string, number] => [
      `train/metric_${i}`,
      Math.sin(step / (i + 1)),
    ]);
    const metrics = { step, phase: "train", "reward/mean": 0.5, ...Object.fromEntries(others) };
    appendFileSync(join(folder, "metrics.jsonl"), `${JSON.stringify(metrics)}\n`);
  }
}

const milliseconds = (since: number): number => Number((performance.now() - since).toFixed(1));

async function start() {
  return startViewServer({
    folders: [folder],
    host: "127.0.0.1",
    port: 0,
    token: "t",
    assets: folder,
    findDecoder: () => Promise.resolve(null),
    pollMs: 3_600_000,
  });
}

const filters: Readonly<Record<string, EpisodeFilter>> = {
  none: {},
  "reward from 0.95": { minReward: 0.95 },
  "reward 0.4 to 0.6, timeout": { minReward: 0.4, maxReward: 0.6, ended: "timeout" },
  task: { task: "task-1234" },
  step: { step: 100 },
  "tool errors": { only: "tool-errors" },
  "tool errors of a task": { only: "tool-errors", task: "task-35" },
  truncated: { only: "truncated" },
  "a frequent word": { text: "lamp" },
  "two frequent words, incorrect": { text: "lamp refund", only: "incorrect" },
  "a rare word": { text: "number77777" },
  "a word that is nowhere": { text: "nowhere" },
  "frequent word, rare reward": { text: "lamp", minReward: 0.99, ended: "timeout" },
};

/** In a process of its own, so that what was built before does not count. */
async function measure(): Promise<void> {
  const opened = performance.now();
  await using server = await start();
  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(`${server.url}${path}`, {
      headers: { authorization: "Bearer t" },
    });
    if (!response.ok) throw new Error(`${path}: HTTP ${response.status}`);
    return response.json();
  };
  await get("/api/runs");
  await get("/api/runs/0/facets");
  await get("/api/runs/0/episodes");
  const openMs = milliseconds(opened);
  const readyFrom = performance.now();
  await server.ready;
  const checkMs = milliseconds(readyFrom);
  const filterMs: Record<string, number> = {};
  for (const [name, filter] of Object.entries(filters)) {
    const query = new URLSearchParams(
      Object.entries(filter).map(([key, value]): [string, string] => [key, String(value)]),
    );
    const since = performance.now();
    await get(`/api/runs/0/episodes?${query.toString()}`);
    filterMs[name] = milliseconds(since);
  }
  // Each for the first time: what they share is read once.
  const pageMs: Record<string, number> = {};
  for (const page of ["metrics", "health", "cost", "changes", "tasks", "parts"]) {
    const since = performance.now();
    await get(`/api/runs/0/${page}`);
    pageMs[page] = milliseconds(since);
  }
  const tokenMs: number[] = [];
  for (let i = 1; i <= 20; i++) {
    const n = Math.max(1, Math.floor((i * calls) / callsPerEpisode / 21));
    const since = performance.now();
    await get(`/api/runs/0/episodes/${n}/tokens?call=3`);
    tokenMs.push(milliseconds(since));
  }
  const rssMb = Math.round(process.memoryUsage().rss / 2 ** 20);
  const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
  console.log(
    JSON.stringify(
      {
        calls,
        openMs,
        checkMs,
        filterMs,
        pageMs,
        slowestTokenMs: Math.max(...tokenMs),
        rssMb,
        peakMb,
      },
      null,
      2,
    ),
  );
}

if (process.argv.includes("--measure")) {
  await measure();
} else {
  if (!existsSync(join(folder, "episodes"))) writeRun();
  const since = performance.now();
  {
    await using server = await start();
    await server.ready;
  }
  const indexSeconds = Math.round(milliseconds(since) / 1000);
  const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
  console.log(JSON.stringify({ indexSeconds, indexPeakMb: peakMb }));
  const args = [...process.execArgv, fileURLToPath(import.meta.url), count, folder, "--measure"];
  spawnSync(process.execPath, args, { stdio: "inherit" });
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
}
