/** Rounds of one load to lines of a report: medians, and ratios of what ran right after each other. */
import { atLeast, atMost, compared, result, type Goal, type Result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import { shortOnly, type ContenderName } from "./contenders.ts";
import type { LoadCase, Outcome } from "./round.ts";
import { pacedMs, shortCall } from "./sizes.ts";

/** Of those that ran. */
export type Round = Readonly<Record<ContenderName, Outcome>>;

type Read = (outcome: Outcome) => number;

const throughput: Read = ({ callsPerSecond }) => callsPerSecond;
const cpu: Read = ({ cpuMsPerCall }) => cpuMsPerCall;

interface Pair {
  readonly ours: ContenderName;
  readonly peer: ContenderName;
}

function versus(
  metric: string,
  unit: string,
  rounds: readonly Round[],
  { ours, peer }: Pair,
  read: Read,
  goal?: Goal,
): Result {
  const of = (name: ContenderName): number => median(rounds.map((round) => read(round[name])));
  const ratio = median(rounds.map((round) => read(round[ours]) / read(round[peer])));
  return compared(metric, unit, { ours: of(ours), peer: of(peer), peerName: peer, ratio }, goal);
}

/** What the client waits for beside the model, and the same of the peer. */
function added(rounds: readonly Round[], ours: ContenderName, read: Read): number {
  return median(rounds.map((round) => read(round[ours]) - read(round["mock alone"])));
}

export function labelOf({ size, stream, connections, paced }: LoadCase): string {
  const clients = connections === 1 ? "1 connection" : `${connections} connections`;
  const pace = paced ? `, a server of ${pacedMs} ms` : "";
  return `${size.name}${stream ? ", streamed" : ""}, ${clients}${pace}`;
}

/** `hasGoals` false: sizes are too small to be held to them. */
export function caseResults(load: LoadCase, rounds: readonly Round[], hasGoals: boolean): Result[] {
  const label = labelOf(load);
  const { size, stream, connections, paced } = load;
  const isShort = size === shortCall;
  const times = stream ? (isShort ? 15 : 8) : isShort ? 25 : 12;
  const throughputGoal = hasGoals && connections > 1 && !paced ? atLeast(times) : undefined;
  const isHeld = hasGoals && !stream && isShort;
  const p50Goal = isHeld && connections === 1 ? atMost(1) : undefined;
  const p99Goal = isHeld && paced ? atMost(15) : undefined;
  const durable: Pair = { ours: "ours, SQLite", peer: "rLLM, SQLite" };
  const lighter: Pair = { ours: "ours, SQLite normal", peer: "rLLM, SQLite" };
  const volatile: Pair = { ours: "ours, memory", peer: "rLLM, memory" };
  const proxy: Pair = { ours: "ours, SQLite", peer: shortOnly };
  const p50 = (name: ContenderName): number => added(rounds, name, ({ p50Ms }) => p50Ms);
  const p99 = (name: ContenderName): number => added(rounds, name, ({ p99Ms }) => p99Ms);
  return [
    versus(`${label}: throughput, SQLite`, "calls/s", rounds, durable, throughput, throughputGoal),
    versus(`${label}: throughput, SQLite normal`, "calls/s", rounds, lighter, throughput),
    versus(`${label}: throughput, memory`, "calls/s", rounds, volatile, throughput),
    versus(`${label}: processor time per call, SQLite`, "ms", rounds, durable, cpu),
    versus(`${label}: processor time per call, memory`, "ms", rounds, volatile, cpu),
    ...(size === shortCall
      ? [
          versus(`${label}: throughput, SQLite`, "calls/s", rounds, proxy, throughput),
          versus(`${label}: processor time per call, SQLite`, "ms", rounds, proxy, cpu),
        ]
      : []),
    result(`${label}: added to p50, SQLite`, "ms", p50("ours, SQLite"), p50Goal),
    result(`${label}: added to p50, SQLite normal`, "ms", p50("ours, SQLite normal"), p50Goal),
    result(`${label}: added to p50, memory`, "ms", p50("ours, memory"), p50Goal),
    result(`${label}: added to p50, rLLM with SQLite`, "ms", p50("rLLM, SQLite")),
    result(`${label}: added to p50, rLLM with memory`, "ms", p50("rLLM, memory")),
    result(`${label}: added to p99, SQLite`, "ms", p99("ours, SQLite"), p99Goal),
    result(`${label}: added to p99, SQLite normal`, "ms", p99("ours, SQLite normal"), p99Goal),
    result(`${label}: added to p99, memory`, "ms", p99("ours, memory")),
    result(`${label}: added to p99, rLLM with SQLite`, "ms", p99("rLLM, SQLite")),
    result(
      `${label}: throughput of the mock alone`,
      "calls/s",
      median(rounds.map((round) => round["mock alone"].callsPerSecond)),
    ),
  ];
}
