/** What agents can do to the process that trains them, and how the run ends then. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { coinProject, start, type Finished } from "./coin-project.ts";

interface Ended extends Finished {
  readonly folder: string;
  readonly events: readonly Readonly<Record<string, unknown>>[];
  readonly isLocked: boolean;
}

/** Trains with an agent that runs `code` before it asks the model; `task` is its task. */
async function trainWith(
  { inAgent = "", inModule = "" }: { inAgent?: string; inModule?: string },
  overrides: readonly string[] = [],
): Promise<Ended> {
  const folder = coinProject({
    "mine.mjs": `import { agent as ask } from "./parts.mjs";
      const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      let started = 0;
      ${inModule}
      export async function agent(task, config) {
        const number = ++started;
        ${inAgent}
        return await ask(task, config);
      }`,
  });
  const finished = await start([
    "train",
    join(folder, "run.yaml"),
    "agent=mine.mjs",
    "trainer.max_failed_fraction=0.5",
    ...overrides,
  ]);
  const runDir = join(folder, "runs/coin");
  const text = readFileSync(join(runDir, "events.jsonl"), "utf8").trimEnd();
  return {
    ...finished,
    folder,
    events: text.split("\n").map((line) => JSON.parse(line) as Record<string, unknown>),
    isLocked: existsSync(join(runDir, "run.lock")),
  };
}

const of = (events: Ended["events"], type: string): Ended["events"] =>
  events.filter((event) => event["type"] === type);
const failed = (events: Ended["events"]): number =>
  of(events, "rollout-end").filter((event) => event["terminationReason"] === "error").length;

/** Code of the module that runs, outside of every rollout, when a step has ended; on one line. */
const afterStep = (code: string): string =>
  `const { readFileSync } = await import("node:fs"); const wait = setInterval(() => { let text = ""; try { text = readFileSync(new URL("runs/coin/events.jsonl", import.meta.url), "utf8"); } catch {} if (!text.includes("step-end")) return; clearInterval(wait); ${code} }, 20);`;

/** Of 24 rollouts, those of number 2 and 11. */
const twice = "if (number === 2 || number === 11)";

describe("an agent's mistakes that no await sees", () => {
  it.each([
    [
      "a promise that rejects before it is awaited",
      `${twice} { const late = Promise.reject(new Error("no one listens")); await sleep(50); await late; }`,
    ],
    [
      "a promise that is never awaited",
      `${twice} { (async () => { await sleep(5); throw new Error("no one listens"); })(); await sleep(200); }`,
    ],
    [
      "a throw in a timer",
      `${twice} { setTimeout(() => { throw new Error("no one listens"); }, 5); await sleep(200); }`,
    ],
    [
      "an error event without a listener",
      `${twice} { const { EventEmitter } = await import("node:events"); const tool = new EventEmitter(); setImmediate(() => tool.emit("error", new Error("no one listens"))); await sleep(200); }`,
    ],
  ])("%s fails its own rollout, and the run goes on", async (_name, inAgent) => {
    const { code, err, events, isLocked } = await trainWith({ inAgent });
    expect(code, err).toBe(0);
    expect(failed(events)).toBe(2);
    // One text is told once.
    expect(err.match(/no one listens/g)).toHaveLength(1);
    expect(err).toMatch(
      /belongs to rollout \S+ \(task "\S+"\), and fails it: Error: no one listens/,
    );
    expect(of(events, "run-end")).toMatchObject([{ status: "completed" }]);
    expect(isLocked).toBe(false);
  });

  it("what comes after the rollout's end is a warning", async () => {
    const { code, err } = await trainWith({
      inAgent: `if (number === 2) setTimeout(() => { throw new Error("too late"); }, 1000);
        if (number > 8) await sleep(1500);`,
    });
    expect(code, err).toBe(0);
    expect(err).toMatch(/which had ended already, so it changes nothing: Error: too late/);
  });

  it("what its deadline does to calls that nothing awaits is not told", async () => {
    const { code, err } = await trainWith(
      {
        inModule: `const slow = (await import("node:http")).createServer(() => {});
          await new Promise((resolve) => slow.listen(0, "127.0.0.1", resolve));
          slow.unref();`,
        inAgent: `if (number === 2) {
          void fetch("http://127.0.0.1:" + slow.address().port, { signal: config.signal });
          await sleep(4000);
        }`,
      },
      ["workflow.timeout_s=2"],
    );
    expect(code, err).toBe(0);
    expect(err).not.toContain("nothing awaits");
  });

  it("an error outside of every rollout ends the run: saved, unlocked, status 1, one sentence", async () => {
    const { code, out, err, events, isLocked, folder } = await trainWith(
      { inModule: afterStep('throw new Error("pool lost");') },
      ["trainer.total_batches=100000"],
    );
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(
      /error: A timer or an event handler threw outside of every rollout.*Error: pool lost \(at .*mine\.mjs:4/,
    );
    expect(err).not.toContain("\n    at ");
    expect(of(events, "run-end")).toMatchObject([
      { status: "failed", message: expect.stringContaining("pool lost") as string },
    ]);
    const last = events.findLast((event) => event["type"] === "step-end")?.["step"];
    expect(of(events, "checkpoint-save").at(-1)?.["step"]).toBe(last);
    expect(isLocked).toBe(false);
    writeFileSync(join(folder, "mine.mjs"), 'export { agent } from "./parts.mjs";');
    const again = await start([
      ...["train", join(folder, "run.yaml"), "agent=mine.mjs", "trainer.max_failed_fraction=0.5"],
      ...[
        `trainer.total_batches=${String(Number(last) + 1)}`,
        "--resume",
        join(folder, "runs/coin"),
      ],
    ]);
    expect(again.code, again.err).toBe(0);
  });

  it("process.exit(0) fails its own rollout", async () => {
    const { code, err, events } = await trainWith({ inAgent: `${twice} process.exit(0);` });
    expect(code, err).toBe(0);
    expect(failed(events)).toBe(2);
  });

  it("process.exit(0) that an agent catches fails its rollout all the same", async () => {
    const { code, events } = await trainWith({
      inAgent: `${twice} { try { process.exit(0); } catch {} }`,
    });
    expect(code).toBe(0);
    expect(failed(events)).toBe(2);
  });

  it.each(["process.exit()", "process.exit(0)"])(
    "%s in every rollout, also in those that outlive the run: status 1, and the cause",
    async (exit) => {
      const { code, err, events, isLocked } = await trainWith({
        // The last ones call it while the process ends.
        inAgent: `await sleep(number < 20 ? 10 : 150 * (number - 19)); ${exit};`,
      });
      expect(code, err).toBe(1);
      expect(err).toContain(`${exit} was called in`);
      expect(of(events, "run-end")).toMatchObject([{ status: "failed" }]);
      expect(isLocked).toBe(false);
    },
  );

  it("process.exit(0) outside of every rollout: status 1, a sentence, unlocked", async () => {
    const { code, out, err, events, isLocked } = await trainWith(
      { inModule: afterStep("process.exit(0);") },
      ["trainer.total_batches=100000"],
    );
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("error: The process exited with status 0 during the run.");
    expect(of(events, "run-end")).toMatchObject([{ status: "failed" }]);
    expect(isLocked).toBe(false);
  });
});

describe("an agent that leaves something open", () => {
  it("does not keep a completed run from exiting, and is told what", async () => {
    const { code, out, err } = await trainWith({
      inModule: `setInterval(() => {}, 1000); (await import("node:net")).createServer().listen(0);`,
    });
    expect(code, err).toBe(0);
    expect(out).toContain("completed after 3 of 3 steps");
    expect(err).toMatch(
      /warning: The command has finished, but your code keeps the process open \(.*TCPServerWrap/,
    );
    expect(err).toContain("Timeout");
  });

  it("and that throws after the end changes nothing, and is told once", async () => {
    const { code, err } = await trainWith({
      inModule: `const { readFileSync } = await import("node:fs");
        const record = new URL("runs/coin/events.jsonl", import.meta.url);
        setInterval(() => {
          let text = "";
          try { text = readFileSync(record, "utf8"); } catch {}
          if (text.includes("run-end")) throw new Error("still here");
        }, 5);`,
    });
    expect(code, err).toBe(0);
    const once =
      "warning: Error after the run ended, in code that is still running: Error: still here\n";
    expect(err).toContain(once);
    expect(err).toContain("keeps the process open");
  });

  it("a run that leaves nothing open says nothing", async () => {
    const { code, err } = await trainWith({});
    expect(code, err).toBe(0);
    expect(err).not.toMatch(/warning: (?!The training data)/);
  });
});
