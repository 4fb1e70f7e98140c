/** The other side of `child.ts`: what runs in the process that was started. */

/**
 * Takes the one input and sends the one output; a failure ends the process with its stack on stderr.
 * Whatever comes later is answered with the processor time used so far, and what `more` says.
 */
export function answer(
  work: (input: never) => Promise<object>,
  more: () => object = () => ({}),
): void {
  process.once("message", (input) => {
    process.on("message", () => process.send?.({ ...process.cpuUsage(), ...more() }));
    void work(input as never).then((output) => process.send?.(output));
  });
  // When the parent is gone, so is the reason to run.
  process.once("disconnect", () => process.exit(1));
}

/**
 * Most memory that this process has had resident, files mapped into memory included. A process starts
 * with its parent's peak on Linux, so parents stay small.
 */
export function peakMiB(): number {
  return process.resourceUsage().maxRSS / 1024;
}
