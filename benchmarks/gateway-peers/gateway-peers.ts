/**
 * `gateway-peers`: our gateway beside rLLM's and LiteLLM's proxy, over the same mock of an inference
 * server, in turns. Every server, the mock and the clients have a process each.
 */
import type { Benchmark } from "../harness/benchmark.ts";
import type { Result } from "../harness/result.ts";
import { createTempFolder } from "../harness/temp-folder.ts";
import { caseResults, labelOf, type Round } from "./case-results.ts";
import { contenderNames, shortOnly, startAll, stopAll, type Contenders } from "./contenders.ts";
import { idleResults } from "./idle-sessions.ts";
import { peerVersions } from "./peers.ts";
import { runRound, type LoadCase, type Outcome, type RoundTimes } from "./round.ts";
import { longCall, shortCall } from "./sizes.ts";

const cases: readonly LoadCase[] = [shortCall, longCall].flatMap((size) => [
  { size, stream: false, connections: 1, paced: false },
  { size, stream: false, connections: 64, paced: false },
  { size, stream: true, connections: 64, paced: false },
  { size, stream: false, connections: 64, paced: true },
]);
/** Enough for the slowest of them to answer all of 64 connections twice. */
const fullTimes: RoundTimes = { warmUpMs: 400, durationMs: 1500 };
/** Before each case. */
const fullWarmUp: RoundTimes = { warmUpMs: 400, durationMs: 5000 };
/** Before all: V8 compiles for some ten thousand calls, which takes a quarter of the processor time meanwhile. */
const runIn: RoundTimes = { warmUpMs: 400, durationMs: 10_000 };
const runInCases: readonly LoadCase[] = [false, true].map((stream) => ({
  size: shortCall,
  stream,
  connections: 64,
  paced: false,
}));
const quickTimes: RoundTimes = { warmUpMs: 100, durationMs: 500 };
const idleSessions = 10_000;
const quickIdleSessions = 200;

async function runAll(contenders: Contenders, load: LoadCase, times: RoundTimes): Promise<Round> {
  const outcomes: [string, Outcome][] = [];
  for (const name of contenderNames) {
    if (name === shortOnly && load.size !== shortCall) continue;
    outcomes.push([name, await runRound(contenders[name], load, times)]);
  }
  return Object.fromEntries(outcomes) as Round;
}

export const gatewayPeers: Benchmark = {
  name: "gateway-peers",
  summary: "our gateway compared with rLLM's and LiteLLM's, over one mock of vLLM",
  repetitions: 5,
  peerVersions,
  async run({ quick, repetitions }, log) {
    using folder = createTempFolder();
    const contenders = await startAll(folder.path);
    const times = quick ? quickTimes : fullTimes;
    const results: Result[] = [];
    for (const load of quick ? [] : runInCases) {
      log(`${labelOf(load)}, until programs are compiled ...`);
      await runAll(contenders, load, runIn);
    }
    for (const load of cases) {
      const rounds: Round[] = [];
      for (let i = 0; i <= repetitions; i++) {
        log(`${labelOf(load)}, ${i === 0 ? "warm-up" : `round ${i}`} ...`);
        const round = await runAll(contenders, load, i === 0 && !quick ? fullWarmUp : times);
        if (i > 0) rounds.push(round);
      }
      results.push(...caseResults(load, rounds, !quick));
    }
    const idle = quick ? quickIdleSessions : idleSessions;
    log(`${idle} open sessions ...`);
    results.push(...(await idleResults(contenders, idle, times, repetitions)));
    await stopAll(contenders);
    return results;
  },
};
