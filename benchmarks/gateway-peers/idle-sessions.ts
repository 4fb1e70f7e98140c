/** What sessions cost that are only open: memory, and what others wait for. */
import { result, type Result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import type { Contenders } from "./contenders.ts";
import { runRound, type LoadCase, type RoundTimes } from "./round.ts";
import { shortCall } from "./sizes.ts";

const load: LoadCase = { size: shortCall, stream: false, connections: 1, paced: false };

/** Of the gateway with its durable store. */
export async function idleResults(
  contenders: Contenders,
  count: number,
  times: RoundTimes,
  repetitions: number,
): Promise<readonly Result[]> {
  const gateway = contenders["ours, SQLite"];
  const p50 = async (): Promise<number> => {
    const values: number[] = [];
    for (let i = 0; i < repetitions; i++) values.push((await runRound(gateway, load, times)).p50Ms);
    return median(values);
  };
  const alone = await p50();
  const before = gateway.residentMiB();
  const targets = await gateway.open(count);
  const kibEach = ((gateway.residentMiB() - before) * 1024) / count;
  const among = await p50();
  await gateway.close(targets);
  const label = `${count} open sessions`;
  return [
    result(`${label}: resident memory of one`, "KiB", kibEach),
    result(`${label}: p50 of a call beside them, 1 connection`, "ms", among),
    result(`${label}: p50 of a call without them, 1 connection`, "ms", alone),
  ];
}
