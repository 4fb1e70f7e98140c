/**
 * `gateway-thread`: what the gateway's second thread for requests to workers gains: our gateway with it and
 * without it, over one mock of vLLM, in turns.
 */
import { inParallel, requestJson } from "../gateway-peers/admin-client.ts";
import { labelOf } from "../gateway-peers/case-results.ts";
import type { CallTarget, LoadOutput } from "../gateway-peers/load-child.ts";
import { startMock } from "../gateway-peers/mock.ts";
import type { LoadCase, RoundTimes } from "../gateway-peers/round.ts";
import { longCall, shortCall } from "../gateway-peers/sizes.ts";
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild, startChild, type Child } from "../harness/child.ts";
import { compared, type Result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import type { GatewayInput, GatewayOutput } from "./gateway-child.ts";

interface Outcome {
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  readonly cpuMsPerCall: number;
  readonly blockMs: number;
}

type Gateway = Child<GatewayOutput>;
type Round = Readonly<Record<"ours" | "peer", Outcome>>;

const cases: readonly LoadCase[] = [shortCall, longCall].flatMap((size) =>
  [false, true].flatMap((paced) =>
    [false, true].map((stream) => ({ size, stream, connections: 64, paced })),
  ),
);
const sessions = 256;
const fullTimes: RoundTimes = { warmUpMs: 400, durationMs: 2500 };
const quickTimes: RoundTimes = { warmUpMs: 100, durationMs: 300 };
/** V8 compiles for some ten thousand calls. */
const runIn: RoundTimes = { warmUpMs: 400, durationMs: 10_000 };

const gatewayFile = new URL("gateway-child.ts", import.meta.url);
const loadFile = new URL("../gateway-peers/load-child.ts", import.meta.url);

async function runRound(gateway: Gateway, load: LoadCase, times: RoundTimes): Promise<Outcome> {
  const { url, port, adminToken: token } = gateway.output;
  const targets = await inParallel(Array.from({ length: sessions }), async () => {
    const opened = await requestJson(`${url}/sessions`, { method: "POST", token, body: {} });
    const session = opened as { readonly session_id: string; readonly api_key: string };
    const path = `/sessions/${session.session_id}/v1/chat/completions`;
    return { path, token: session.api_key } satisfies CallTarget;
  });
  const before = await gateway.ask();
  const output = await runChild<LoadOutput>(loadFile, { port, targets, ...load, ...times });
  const after = await gateway.ask();
  await inParallel(targets, ({ path }) =>
    requestJson(url + path.slice(0, path.indexOf("/v1/")), { method: "DELETE", token }),
  );
  const { callsPerSecond, p50Ms, allCalls } = output;
  const cpuMsPerCall = (after["cpuMs"]! - before["cpuMs"]!) / allCalls;
  return { callsPerSecond, p50Ms, cpuMsPerCall, blockMs: after["blockMs"]! };
}

const measured: readonly (readonly [keyof Outcome, string, string])[] = [
  ["callsPerSecond", "throughput", "calls/s"],
  ["p50Ms", "p50", "ms"],
  ["blockMs", "longest block of the main thread", "ms"],
  ["cpuMsPerCall", "processor time per call", "ms"],
];

const resultsOf = (load: LoadCase, rounds: readonly Round[]): Result[] =>
  measured.map(([key, metric, unit]) => {
    const of = (side: keyof Round): number => median(rounds.map((round) => round[side][key]));
    const ratio = median(rounds.map(({ ours, peer }) => ours[key] / peer[key]));
    const values = { ours: of("ours"), peer: of("peer"), peerName: "one thread", ratio };
    return compared(`${labelOf(load)}: ${metric}`, unit, values);
  });

export const gatewayThread: Benchmark = {
  name: "gateway-thread",
  summary: "what the gateway's second thread for requests to workers gains",
  repetitions: 5,
  async run({ quick, repetitions }, log) {
    const mock = await startMock();
    const start = (offloadFrom: number | null): Promise<Gateway> =>
      startChild(gatewayFile, { worker: `${mock.url}/v1`, offloadFrom } satisfies GatewayInput);
    const ours = await start(8);
    const peer = await start(null);
    const both = async (load: LoadCase, times: RoundTimes): Promise<Round> => ({
      ours: await runRound(ours, load, times),
      peer: await runRound(peer, load, times),
    });
    if (!quick) for (const load of cases.slice(0, 2)) await both(load, runIn);
    const results: Result[] = [];
    for (const load of cases) {
      const rounds: Round[] = [];
      for (let i = 0; i <= repetitions; i++) {
        log(`${labelOf(load)}, ${i === 0 ? "warm-up" : `round ${i}`} ...`);
        const round = await both(load, quick ? quickTimes : fullTimes);
        if (i > 0) rounds.push(round);
      }
      results.push(...resultsOf(load, rounds));
    }
    await Promise.all([ours, peer, mock].map((child) => child.stop()));
    return results;
  },
};
