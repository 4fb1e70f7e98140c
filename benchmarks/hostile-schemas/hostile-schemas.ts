/**
 * `hostile-schemas`: what the calls of one session notice of another that sends schemas which are made to cost.
 * Rounds with and without it alternate, so that other load of the machine is in both; how long the gateway's
 * main thread is busy at once is measured in its processor time, which other load does not change.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { JsonValue } from "../../src/core/message.ts";
import { ConfigError } from "../../src/core/errors.ts";
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild, startChild } from "../harness/child.ts";
import { atMost, type Result, result } from "../harness/result.ts";
import { median, percentile } from "../harness/statistics.ts";
import { callForm, openSession, type Session } from "./call-form.ts";
import type { ServerOutput, Ticks } from "./server-child.ts";
import type { StrangerInput, StrangerOutput } from "./stranger-child.ts";

const serverFile = new URL("server-child.ts", import.meta.url);
const strangerFile = new URL("stranger-child.ts", import.meta.url);
const connections = 4;
/** Between a response and the next call. */
const pauseMs = 5;
const schema: JsonValue = { type: "object", properties: { a: { type: "integer" } } };

/** Milliseconds of the calls of one session while `work` goes on. */
async function callDuring(session: Session, work: Promise<unknown>): Promise<readonly number[]> {
  const latencies: number[] = [];
  const state = { isOver: false };
  const over = work.finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) {
    const start = performance.now();
    const status = await callForm(session, schema);
    if (status !== 200) throw new Error(`The other session was answered with ${status}.`);
    latencies.push(performance.now() - start);
    await delay(pauseMs);
  }
  await over;
  return latencies;
}

interface Series {
  readonly rounds: (readonly number[])[];
  readonly longest: number[];
}

export const hostileSchemas: Benchmark = {
  name: "hostile-schemas",
  repetitions: 5,
  summary: "calls of one session while another sends schemas that are made to cost",
  async run({ quick, repetitions }, log) {
    if (process.platform !== "linux")
      throw new ConfigError({
        message: "hostile-schemas reads processor times that Linux alone has.",
      });
    const count = quick ? 50 : 2000;
    const server = await startChild<ServerOutput>(serverFile, {});
    const { url, adminToken, ticksUrl } = server.output;
    const ticks = async (): Promise<Ticks> => (await (await fetch(ticksUrl)).json()) as Ticks;
    const session = await openSession(url, adminToken);
    const stranger = await openSession(url, adminToken);
    await callDuring(session, delay(2000));
    const measure = async (to: Series, work: Promise<unknown>): Promise<void> => {
      await ticks();
      to.rounds.push(await callDuring(session, work));
      const { longest } = await ticks();
      to.longest.push(...longest);
      log(`the main thread is busy for ${longest[0]!.toFixed(1)} ms at most`);
    };
    const alone: Series = { rounds: [], longest: [] };
    const beside: Series = { rounds: [], longest: [] };
    const worst: Series = { rounds: [], longest: [] };
    const sent = { accepted: 0, refused: 0 };
    const send = async (random: StrangerInput["random"]): Promise<void> => {
      const input: StrangerInput = { session: stranger, random, connections };
      const { accepted, refused } = await runChild<StrangerOutput>(strangerFile, input);
      sent.accepted += accepted;
      sent.refused += refused;
    };
    for (let round = 0; round < repetitions; round++) {
      log(`round ${round + 1}: alone ...`);
      await measure(alone, delay(quick ? 2000 : 10_000));
      log(`beside ${count} random schemas ...`);
      await measure(beside, send({ first: 1_000_000 + round * count, count }));
    }
    log("beside those of the tests ...");
    await measure(worst, send(null));
    await server.stop();
    const series = (label: string, { rounds, longest }: Series, isBar: boolean): Result[] => [
      result(`${label}: calls of the other session`, "", rounds.flat().length),
      result(`${label}: p50`, "ms", median(rounds.map((round) => percentile(round, 0.5)))),
      result(`${label}: p99`, "ms", median(rounds.map((round) => percentile(round, 0.99)))),
      result(
        `${label}: slowest`,
        "ms",
        Math.max(...rounds.flat()),
        isBar ? atMost(100) : undefined,
      ),
      result(
        `${label}: longest that the main thread is busy, in its processor time`,
        "ms",
        Math.max(...longest),
        isBar ? atMost(20) : undefined,
      ),
    ];
    return [
      result("schemas accepted", "", sent.accepted),
      result("schemas refused", "", sent.refused),
      ...series("alone", alone, false),
      ...series("beside random schemas", beside, !quick),
      ...series("beside the worst that tests have", worst, false),
    ];
  },
};
