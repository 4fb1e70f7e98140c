/** Waiting for calls to end, with a limit. */

const pollMs = 5;

/** Resolves with what is left after at most `limitMs`. */
export async function waitUntilIdle(count: () => number, limitMs: number): Promise<number> {
  const deadline = performance.now() + limitMs;
  while (count() > 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return count();
}
