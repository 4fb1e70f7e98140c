import { describe, expect, it } from "vitest";
import { parseArguments } from "../../benchmarks/arguments.ts";
import { benchmarks } from "../../benchmarks/catalog.ts";
import { demoResults } from "../../benchmarks/demo/demo.ts";
import { outsideFraction } from "../../benchmarks/demo/run-demo.ts";
import { countTokens, demoStep, denseRows, makeRows } from "../../benchmarks/engine/rows.ts";
import { rewardsOf } from "../../benchmarks/first-hour/first-hour.ts";
import { builtinStages, modelStages } from "../../benchmarks/first-hour/stages.ts";
import { completion, sampledTokens } from "../../benchmarks/gateway/endpoint.ts";
import { runLoad } from "../../benchmarks/gateway/load.ts";
import { featuresOf, hasBf16 } from "../../benchmarks/harness/cpu-features.ts";
import { makeReport } from "../../benchmarks/harness/report.ts";
import { atLeast, atMost, result } from "../../benchmarks/harness/result.ts";
import { asyncResults } from "../../benchmarks/trainer-async/trainer-async.ts";
import { sampleToolTime, toolTime } from "../../benchmarks/trainer-async/slow-tools.ts";
import { overheadResults } from "../../benchmarks/trainer-overhead/trainer-overhead.ts";
import { mean, median, percentile } from "../../benchmarks/harness/statistics.ts";
import { formatNumber, formatTable, reportTable } from "../../benchmarks/harness/table.ts";
import { usage } from "../../benchmarks/harness/usage.ts";

describe("statistics", () => {
  it("takes the middle, whatever the order, and leaves the input alone", () => {
    const values = [9, 1, 10, 2];
    expect(median(values)).toBe(5.5);
    expect(values).toEqual([9, 1, 10, 2]);
    expect(median([10, 9, 1])).toBe(9);
    expect(mean([1, 2, 6])).toBe(3);
  });

  it("takes percentiles by nearest rank", () => {
    const hundred = Float64Array.from({ length: 100 }, (_, i) => 100 - i);
    expect([0.001, 0.5, 0.99, 1].map((share) => percentile(hundred, share))).toEqual([
      1, 50, 99, 100,
    ]);
    expect(percentile([7], 0.99)).toBe(7);
  });

  it("has nothing to say of nothing", () => {
    for (const of of [median, mean, (v: number[]) => percentile(v, 0.5)]) {
      expect(() => of([])).toThrow(RangeError);
    }
  });
});

describe("arguments", () => {
  const parse = (...args: string[]) => parseArguments(args, benchmarks);

  it("shows the list without a name and for --help", () => {
    for (const args of [[], ["--help"], ["gateway", "-h"]]) {
      expect(parse(...args)).toEqual({ kind: "help" });
    }
    for (const { name } of benchmarks) expect(usage(benchmarks)).toContain(`\n  ${name} `);
  });

  it("applies defaults, and smaller ones for --quick", () => {
    expect(parse("engine-train", "--json")).toMatchObject({
      kind: "run",
      benchmark: { name: "engine-train" },
      options: { quick: false, repetitions: 3, seeds: 5 },
      isJson: true,
      isSaved: false,
    });
    expect(parse("demo", "--quick")).toMatchObject({ options: { repetitions: 1, seeds: 1 } });
    expect(parse("demo", "--quick", "--seeds", "2")).toMatchObject({ options: { seeds: 2 } });
  });

  it.each([
    [["gatway"], 'no benchmark "gatway"', "Did you mean gateway?"],
    [["zzzzzzzz"], 'no benchmark "zzzzzzzz"', "There are: engine-train, "],
    [["gateway", "--jsn"], "no option --jsn", "Did you mean --json?"],
    [["gateway", "demo"], "One benchmark at a time", "--help"],
    [["--json"], "No benchmark was named", "--help"],
    [["gateway", "--seeds", "2"], "--seeds is for demo", "--help"],
    [["demo", "--repetitions", "2"], "--repetitions is not for demo", "--seeds"],
    [["demo", "--seeds", "0"], "whole number from 1", "--help"],
    [["demo", "--seeds"], "--seeds", "--help"],
    [["gateway", "--quick", "--save"], "--save keeps numbers to be quoted", "Leave"],
    [["gateway", "--save", "--repetitions", "2"], "medians of 3", "Leave"],
  ])("refuses %j", (args, message, hint) => {
    expect(() => parse(...args)).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringContaining(message) as string,
        hint: expect.stringContaining(hint) as string,
      }),
    );
  });
});

describe("report", () => {
  it("has the promised shape", async () => {
    const results = [
      result("speed", "tokens/s", 1234.5678, atLeast(2000)),
      result("share", "", 0.150004, atMost(0.15)),
      result("memory", "MiB", 3, atMost(3)),
      result("plain", "ms", 1),
    ];
    const none = { peer: null, peerName: null, ratio: null };
    expect(results).toEqual([
      { metric: "speed", unit: "tokens/s", ours: 1234.6, ...none, goal: ">= 2000", met: false },
      { metric: "share", unit: "", ours: 0.15, ...none, goal: "<= 0.15", met: false },
      { metric: "memory", unit: "MiB", ours: 3, ...none, goal: "<= 3", met: true },
      { metric: "plain", unit: "ms", ours: 1, ...none, goal: null, met: null },
    ]);
    const report = await makeReport("gateway", { quick: false }, results);
    expect(Object.keys(report)).toEqual([
      "name",
      "instructionSet",
      "machine",
      "versions",
      "date",
      "results",
    ]);
    expect(Object.keys(report.machine)).toEqual(["cpu", "cores", "features", "memoryGiB", "os"]);
    expect(report.versions.agentTrainer).toMatch(/^\d+\.\d+\.\d+/);
    expect(new Date(report.date).toISOString()).toBe(report.date);
    expect(reportTable(report)).toMatch(/^speed +1235 {2}tokens\/s {2}>= 2000 {2}NOT MET$/m);
    expect(await makeReport("gateway", { quick: true }, [])).toMatchObject({ quick: true });
  });

  it("refuses what was not measured", () => {
    expect(() => result("speed", "tokens/s", Number.NaN)).toThrow("speed is NaN");
  });

  it("lays tables out", () => {
    const rows = [
      ["a", "1", "s"],
      ["bbb", "100", ""],
    ];
    expect(formatTable(rows, [1])).toBe("a      1  s\nbbb  100");
    expect([1234.5, 12.3451, 0.01234567, 0, 100].map(formatNumber)).toEqual([
      "1235",
      "12.35",
      "0.01235",
      "0",
      "100",
    ]);
  });
});

describe("what is measured", () => {
  it("trains on rows of the sizes that it says", () => {
    expect(countTokens(demoStep)).toBe(6814);
    const rows = makeRows(denseRows(4, 256), 1000);
    expect(rows.map(({ tokens }) => tokens.length)).toEqual([256, 256, 256, 256]);
    const [row] = makeRows([{ rows: 1, tokens: 5, trained: 2 }], 100);
    expect(row).toMatchObject({ targetMask: Uint8Array.of(0, 0, 0, 1, 1) });
    expect(row!.samplingLogprobs[4]).toBeCloseTo(-Math.log(100));
    expect(row!.tokens.every((token) => token >= 0 && token < 100)).toBe(true);
  });

  it("makes every call of every connection, so many at once", async () => {
    const calls: string[] = [];
    let [running, most] = [0, 0];
    const outcome = await runLoad({
      connections: 3,
      callsEach: 4,
      async call(connection, index) {
        most = Math.max(most, ++running);
        calls.push(`${connection}/${index}`);
        await new Promise((resolve) => setTimeout(resolve, 2));
        running--;
      },
    });
    expect([new Set(calls).size, calls.length, most]).toEqual([12, 12, 3]);
    expect(outcome.p99Ms).toBeGreaterThanOrEqual(outcome.p50Ms);
    expect(outcome.callsPerSecond).toBeGreaterThan(0);
    expect(completion).toHaveLength(sampledTokens - 1);
  });

  it("reads the demo's metrics and judges every seed", () => {
    const lines =
      '{"phase":"validation"}\n{"time/outside_engine_fraction":0.1}\n{"time/outside_engine_fraction":0.3}\n';
    expect(outsideFraction(lines)).toBeCloseTo(0.2);
    const run = {
      seconds: 9,
      secondsToFirstUpdate: 5,
      rewardFirst: 0.2,
      rewardLast: 0.9,
      valFirst: 0.2,
      valLast: 0.95,
      outsideEngineShare: 0.1,
    };
    const results = demoResults(
      [
        { ...run, seed: 1 },
        { ...run, seed: 2, seconds: 25 },
      ],
      false,
    );
    expect(results.slice(0, 3)).toMatchObject([
      { metric: "whole run, median", ours: 17 },
      { metric: "whole run, seed 1", ours: 9, met: true },
      { metric: "whole run, seed 2", ours: 25, met: false },
    ]);
    expect(demoResults([{ ...run, seed: 1 }], true).every(({ goal }) => goal === null)).toBe(true);
  });

  it("draws tool times as it says, and compares loops pair by pair", () => {
    expect(sampleToolTime(0)).toBe(toolTime.shortestS);
    expect(sampleToolTime(0.5)).toBeCloseTo(0.511, 3);
    expect(sampleToolTime(1 - 1 / 120)).toBeLessThan(toolTime.maxSeconds);
    expect(sampleToolTime(1 - 1 / 122)).toBe(toolTime.maxSeconds);
    const run = { validationBefore: 0.1, validationAfter: 0.9, maxStale: 0, waitingFraction: 0.5 };
    const pair = (turns: number, overlapped: number) => ({
      turns: { ...run, seconds: turns },
      overlapped: { ...run, seconds: overlapped, maxStale: 2 },
    });
    const results = asyncResults([pair(100, 50), pair(300, 100), pair(80, 80)], 10, false);
    expect(results[0]).toMatchObject({ ratio: 2, goal: "ratio >= 2", met: true });
    expect(results[0]).toMatchObject({ ours: 450, peer: 360 });
  });

  it("holds a step's overhead against a backend of 20,000 tokens per second", () => {
    const output = { stepS: [2, 1, 3], updateS: [1], cpuS: [1], peakMiB: 100 };
    const input = { rollouts: 1000, tokens: 2000, steps: 4 };
    const share = overheadResults(output, input, false).find(({ goal }) => goal !== null);
    expect(share).toMatchObject({ ours: Number((2 / 102).toPrecision(5)), met: true });
  });
});

describe("peers of the engine", () => {
  it("reads from the system whether bf16 is computed or emulated", () => {
    const zen3 = "processor\t: 0\nflags\t\t: fpu sse2 avx avx2 fma\nbogomips\t: 1\n";
    const zen4 = "flags : fpu avx2 avx512f avx512_vnni avx512_bf16\n";
    expect(featuresOf(zen3)).toEqual(["avx2"]);
    expect(hasBf16(featuresOf(zen3))).toBe(false);
    expect(featuresOf(zen4)).toEqual(["avx2", "avx512f", "avx512_vnni", "avx512_bf16"]);
    expect(hasBf16(featuresOf(zen4))).toBe(true);
    expect(featuresOf("nothing")).toEqual([]);
  });
});

describe("first-hour", () => {
  it("reads the rewards that a stage printed", () => {
    expect(rewardsOf("validation reward  0.180 → 1.000  (before and after)\n")).toEqual([
      ["reward before", 0.18],
      ["reward at the end", 1],
    ]);
    const train =
      "validation after step 0: reward 0.625  pass 63 %\nvalidation after step 2: reward 0.875  pass\n";
    expect(rewardsOf(train).map(([, value]) => value)).toEqual([0.625, 0.875]);
    expect(rewardsOf("all   reward  0.000  0.000 to 0.000\n")).toEqual([["reward", 0]]);
    expect(rewardsOf("step 1/6  loss 0.98\n")).toEqual([]);
  });

  it("takes its commands from the page, with the model and the tarball in place of the network", () => {
    const commands = [...builtinStages, ...modelStages("m.gguf", 8123)].map((one) => one.command);
    for (const command of commands) {
      expect(command).not.toContain("HuggingFaceTB");
      expect(command).not.toMatch(/\b8100\b/u);
    }
    expect(commands.join("\n")).toContain("model export runs/rl --format gguf");
  });

  it("is run once", () => {
    for (const flag of ["--quick", "--repetitions=3"]) {
      expect(() => parseArguments(["first-hour", flag], benchmarks)).toThrow("once");
    }
    expect(parseArguments(["first-hour", "--save"], benchmarks)).toMatchObject({ isSaved: true });
  });
});
