import { describe, expect, it, vi } from "vitest";
import { mapConcurrent } from "./concurrency.ts";

interface Job {
  readonly promise: Promise<string>;
  resolve(value: string): void;
  reject(error: Error): void;
}

function manualJob(): Job {
  let settlers: Omit<Job, "promise"> | undefined;
  const promise = new Promise<string>((resolve, reject) => {
    settlers = { resolve, reject };
  });
  return { promise, ...(settlers as unknown as Omit<Job, "promise">) };
}

/** Jobs that end when told to. */
function manualJobs(count: number) {
  const jobs = Array.from({ length: count }, manualJob);
  const started: number[] = [];
  const signals: AbortSignal[] = [];
  const work = (_: unknown, index: number, signal: AbortSignal): Promise<string> => {
    started.push(index);
    signals.push(signal);
    return (jobs[index] as Job).promise;
  };
  return { jobs, started, signals, work };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("mapConcurrent", () => {
  it("keeps the order of the items and never runs more than the limit", async () => {
    const { jobs, started, work } = manualJobs(4);
    const all = mapConcurrent([0, 1, 2, 3], 2, work);
    expect(started).toEqual([0, 1]);
    jobs[1]?.resolve("b");
    await settle();
    expect(started).toEqual([0, 1, 2]);
    jobs[2]?.resolve("c");
    jobs[3]?.resolve("d");
    jobs[0]?.resolve("a");
    await expect(all).resolves.toEqual(["a", "b", "c", "d"]);
  });

  it("rejects with the first failure after the others have settled", async () => {
    const { jobs, started, signals, work } = manualJobs(3);
    const all = mapConcurrent([0, 1, 2], 2, work);
    const settled = vi.fn<() => void>();
    const outcome = all.catch((error: unknown) => error).finally(settled);
    const failure = new Error("first");
    jobs[0]?.reject(failure);
    await settle();
    expect(signals[1]?.reason).toBe(failure);
    expect(settled).not.toHaveBeenCalled();
    jobs[1]?.reject(new Error("second"));
    await expect(outcome).resolves.toBe(failure);
    expect(started).toEqual([0, 1]);
  });

  it("aborts running jobs and starts no more when the signal aborts", async () => {
    const { jobs, started, signals, work } = manualJobs(2);
    const controller = new AbortController();
    const all = mapConcurrent([0, 1], 1, work, controller.signal);
    controller.abort("stop");
    expect(signals[0]?.reason).toBe("stop");
    jobs[0]?.resolve("late");
    await expect(all).rejects.toBe("stop");
    expect(started).toEqual([0]);
    await expect(mapConcurrent([0], 1, work, controller.signal)).rejects.toBe("stop");
    expect(started).toEqual([0]);
  });

  it("returns nothing for nothing and refuses a limit that would never start", async () => {
    await expect(mapConcurrent([], 3, () => Promise.resolve(1))).resolves.toEqual([]);
    await expect(mapConcurrent([1], 0, () => Promise.resolve(1))).rejects.toThrow(RangeError);
  });
});
