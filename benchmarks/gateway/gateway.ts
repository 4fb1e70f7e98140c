/**
 * `gateway`: what a call costs more through the gateway than through a bare HTTP server. The servers
 * have a process each, the client is this process; their rounds alternate.
 */
import type { Benchmark } from "../harness/benchmark.ts";
import { type Child, startChild } from "../harness/child.ts";
import { atMost, type Goal, type Result, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import { callChat, checkTokens, completion, openSessions, type Session } from "./endpoint.ts";
import { type LoadOutcome, runLoad } from "./load.ts";
import type { ServerInput, ServerOutput } from "./server-child.ts";

interface Outcome extends LoadOutcome {
  /** Processor time of the server. */
  readonly cpuMsPerCall: number;
}

interface Round {
  readonly bare: Outcome;
  readonly gateway: Outcome;
}

type SessionOf = (connection: number, index: number) => Session;

const serverFile = new URL("server-child.ts", import.meta.url);
const start = (input: ServerInput): Promise<Child<ServerOutput>> => startChild(serverFile, input);

async function exampleBody(gateway: ServerOutput): Promise<string> {
  const sessions = await openSessions(gateway, 1, 1);
  const body = await callChat(sessions.of(0, 0), 0, 0);
  await sessions.close();
  checkTokens(body);
  return body;
}

async function measure(
  server: Child<ServerOutput>,
  [connections, callsEach]: readonly [number, number],
  sessionOf: SessionOf,
): Promise<Outcome> {
  const before = await server.cpuMs();
  const outcome = await runLoad({
    connections,
    callsEach,
    call: async (c, i) => void (await callChat(sessionOf(c, i), c, i)),
  });
  const cpuMs = (await server.cpuMs()) - before;
  return { ...outcome, cpuMsPerCall: cpuMs / (connections * callsEach) };
}

async function runRound(
  gateway: Child<ServerOutput>,
  bare: Child<ServerOutput>,
  size: readonly [number, number],
): Promise<Round> {
  const anywhere = { url: `${bare.output.url}/sessions/x/v1`, apiKey: "x".repeat(40) };
  const bareOutcome = await measure(bare, size, () => anywhere);
  const sessions = await openSessions(gateway.output, ...size);
  const gatewayOutcome = await measure(gateway, size, (c, i) => sessions.of(c, i));
  await sessions.close();
  return { bare: bareOutcome, gateway: gatewayOutcome };
}

function resultsOf(connections: number, rounds: readonly Round[], goal?: Goal): Result[] {
  const label = `${connections} connection${connections === 1 ? "" : "s"}`;
  const of = (read: (round: Round) => number): number => median(rounds.map(read));
  const addedMs = of((round) => round.gateway.p50Ms - round.bare.p50Ms);
  const addedCpu = of((round) => round.gateway.cpuMsPerCall - round.bare.cpuMsPerCall);
  return [
    result(`${label}: added to p50`, "ms", addedMs, goal),
    result(`${label}: added processor time per call`, "ms", addedCpu),
    ...(["gateway", "bare"] as const).flatMap((who) => [
      result(
        `${label}: ${who} p50`,
        "ms",
        of((round) => round[who].p50Ms),
      ),
      result(
        `${label}: ${who} p99`,
        "ms",
        of((round) => round[who].p99Ms),
      ),
      result(
        `${label}: ${who} throughput`,
        "calls/s",
        of((round) => round[who].callsPerSecond),
      ),
    ]),
  ];
}

const sizes = [
  [1, 1000],
  [32, 200],
] as const;
const quickSizes = [
  [1, 40],
  [32, 8],
] as const;

export const gateway: Benchmark = {
  name: "gateway",
  summary: "time that the gateway adds to a call of 512 + 128 tokens",
  async run({ quick, repetitions }, log) {
    const ours = await start({ kind: "gateway", completion });
    const bare = await start({ kind: "bare", body: await exampleBody(ours.output) });
    const results: Result[] = [];
    for (const size of quick ? quickSizes : sizes) {
      const [connections] = size;
      const rounds: Round[] = [];
      for (let i = 0; i <= repetitions; i++) {
        log(`connections: ${connections}, ${i === 0 ? "warm-up" : `round ${i}`} ...`);
        const round = await runRound(ours, bare, size);
        if (i > 0) rounds.push(round);
      }
      // A goal for the time of one call says nothing of calls that wait for each other.
      const goal = connections === 1 && !quick ? atMost(0.3) : undefined;
      results.push(...resultsOf(connections, rounds, goal));
    }
    await Promise.all([ours.stop(), bare.stop()]);
    return results;
  },
};
