import { describe, expect, test, vi } from "vitest";
import { backOffMs, readRetryAfterMs, retry } from "./retry.ts";

describe("back-off", () => {
  test("doubles up to its maximum", () => {
    const waits = [1, 2, 3, 4, 5].map((failures) =>
      backOffMs(failures, { firstMs: 100, maxMs: 900 }),
    );
    expect(waits).toEqual([100, 200, 400, 800, 900]);
  });

  test("is shortened by a random fraction of at most `jitter`", () => {
    const wait = (random: number): number =>
      backOffMs(2, { firstMs: 100, jitter: 0.25, random: () => random });
    expect([wait(0), wait(0.5), wait(1)]).toEqual([200, 175, 150]);
  });
});

describe("Retry-After", () => {
  // The example date of RFC 9110, section 10.2.3.
  const date = "Fri, 31 Dec 1999 23:59:59 GMT";
  const midnight = Date.UTC(2000, 0, 1);

  test.each([
    ["120", 120_000],
    [" 0.5 ", 500],
    ["-3", 0],
    // A timer of 10¹⁵ ms would end at once.
    ["1e12", 600_000],
    ["1e999", 600_000],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 600_000],
    ["", undefined],
    ["soon", undefined],
    [undefined, undefined],
    [null, undefined],
  ])("%j is %j milliseconds", (value, ms) => {
    expect(readRetryAfterMs(value)).toBe(ms);
  });

  test("a date is the time until then, none when it has passed", () => {
    expect(readRetryAfterMs(date, midnight - 31_000)).toBe(30_000);
    expect(readRetryAfterMs(date, midnight)).toBe(0);
  });
});

describe("retry", () => {
  const failure = new Error("not yet");

  test("tries until an attempt returns", async () => {
    const attempt = vi.fn<() => Promise<string>>().mockRejectedValueOnce(failure);
    attempt.mockRejectedValueOnce(failure).mockResolvedValueOnce("done");
    const failed: number[] = [];
    const waitMs = (error: unknown, failures: number): number => {
      expect(error).toBe(failure);
      return failed.push(failures);
    };
    expect(await retry(attempt, { waitMs })).toBe("done");
    expect(failed).toEqual([1, 2]);
  });

  test("throws what is not tried again, or what replaces it", async () => {
    const attempt = (): Promise<never> => Promise.reject(failure);
    await expect(retry(attempt, { waitMs: () => null })).rejects.toBe(failure);
    const other = new Error("gave up");
    const waitMs = (): never => {
      throw other;
    };
    await expect(retry(attempt, { waitMs })).rejects.toBe(other);
  });

  test("an abort ends the wait, and hides the failure that it causes", async () => {
    const stop = new AbortController();
    const reason = new Error("stopped");
    const waiting = retry(() => Promise.reject(failure), {
      waitMs: () => 60_000,
      signal: stop.signal,
    });
    setImmediate(() => {
      stop.abort(reason);
    });
    await expect(waiting).rejects.toBe(reason);
    await expect(
      retry(() => Promise.reject(failure), { waitMs: () => null, signal: stop.signal }),
    ).rejects.toBe(reason);
  });
});
