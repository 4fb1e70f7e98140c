/** One contender under one load: what clients saw, and what it cost the server. */
import { setTimeout as sleep } from "node:timers/promises";
import { runChild } from "../harness/child.ts";
import type { Contender } from "./contender.ts";
import type { LoadInput, LoadOutput } from "./load-child.ts";

export type LoadCase = Pick<LoadInput, "size" | "stream" | "connections" | "paced">;

export interface Outcome extends LoadOutput {
  /** Processor time of the server; the inverse bounds what one processor can serve. */
  readonly cpuMsPerCall: number;
}

export interface RoundTimes {
  readonly warmUpMs: number;
  readonly durationMs: number;
}

const sessions = 256;
const loadFile = new URL("load-child.ts", import.meta.url);

/** rLLM writes on after its flush has returned. */
const captureDeadlineMs = 60_000;

/** @throws Error when it did not capture what it was asked to. */
async function checkCapture(
  contender: Contender,
  targets: Awaited<ReturnType<Contender["open"]>>,
  { size }: LoadCase,
): Promise<void> {
  const [target] = targets;
  if (target === undefined) return;
  const { promptTokens, sampledTokens } = size;
  const deadline = performance.now() + captureDeadlineMs;
  for (;;) {
    // Each reading waits for the one before it.
    const calls = await contender.captured(target);
    if (calls === null) return;
    const isComplete = calls.every(
      (call) => call.promptTokens === promptTokens && call.sampledTokens === sampledTokens,
    );
    if (isComplete && calls.length > 0) return;
    if (performance.now() > deadline)
      throw new Error(`${contender.name} captured ${JSON.stringify(calls)}, not ${size.name}.`);
    await sleep(250);
  }
}

export async function runRound(
  contender: Contender,
  load: LoadCase,
  times: RoundTimes,
): Promise<Outcome> {
  const targets = await contender.open(sessions);
  const { port } = contender;
  const cpuBefore = contender.cpuMs();
  const output = await runChild<LoadOutput>(loadFile, { port, targets, ...load, ...times });
  await contender.settle();
  const cpuMs = contender.cpuMs() - cpuBefore;
  await checkCapture(contender, targets, load);
  await contender.close(targets);
  return { ...output, cpuMsPerCall: cpuMs / output.allCalls };
}
