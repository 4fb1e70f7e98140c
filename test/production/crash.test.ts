/** A receiver that is killed at any moment has on the disk all that it acknowledged. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { createRandom } from "../../src/util/random.ts";
import { argumentsOf } from "../cli/coin-project.ts";
import { readFeedback, readSpans } from "../../src/production/store/production-store.ts";

const kills = process.env["SOAK"] === "1" ? 60 : 4;

async function startProcess(folder: string) {
  const child = spawn(process.execPath, await argumentsOf(["collect", folder, "--port", "0"]), {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, url };
}

const requestOf = (n: number): string =>
  JSON.stringify({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: [1, 2, 3].map((k) => ({
              traceId: n.toString(16).padStart(32, "0"),
              spanId: k.toString(16).padStart(16, "0"),
              name: "x".repeat(500),
              startTimeUnixNano: "1",
            })),
          },
        ],
      },
    ],
  });

it("loses nothing that was acknowledged", { timeout: kills * 30_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "killed-"));
  const random = createRandom(7);
  const acknowledged = { traces: new Set<string>(), feedback: new Set<string>() };
  let next = 1;
  for (let round = 0; round < kills; round++) {
    const { child, url } = await startProcess(folder);
    const before = acknowledged.traces.size;
    const send = async (): Promise<void> => {
      for (;;) {
        const n = next++;
        const traceId = n.toString(16).padStart(32, "0");
        const headers = { "content-type": "application/json" };
        const traces = await fetch(`${url}/v1/traces`, {
          method: "POST",
          headers,
          body: requestOf(n),
        });
        if (traces.status === 200) acknowledged.traces.add(traceId);
        const body = JSON.stringify({ traceId, thumb: "up" });
        const feedback = await fetch(`${url}/feedback`, { method: "POST", body });
        if (feedback.status === 200) acknowledged.feedback.add(traceId);
      }
    };
    const senders = Array.from({ length: 4 }, () => send().catch(() => undefined));
    // Only once something is acknowledged is there something to lose.
    while (acknowledged.traces.size === before) await sleep(5);
    await sleep(random() * 100);
    child.kill("SIGKILL");
    await Promise.all([once(child, "exit"), ...senders]);
  }
  const counts = new Map<string, number>();
  for (const { traceId } of readSpans(folder)) counts.set(traceId, (counts.get(traceId) ?? 0) + 1);
  expect([...acknowledged.traces].filter((one) => counts.get(one) !== 3)).toEqual([]);
  const rated = new Set([...readFeedback(folder)].map(({ traceId }) => traceId));
  expect([...acknowledged.feedback].filter((one) => !rated.has(one))).toEqual([]);
  if (process.env["SOAK"] === "1")
    console.log(
      `${kills} kills: ${acknowledged.traces.size} traces and ${acknowledged.feedback.size} pieces of feedback acknowledged, of ${next - 1} that were sent`,
    );
  rmSync(folder, { recursive: true, force: true });
});
