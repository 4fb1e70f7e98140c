/** Runs a command to its end; what it prints goes to the test's standard error. */
import { spawnSync } from "node:child_process";

/** The longest installs take minutes. */
const limitMs = 1_500_000;

/** @throws Error when it fails, or takes too long. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string } = {},
): void {
  const { status, error } = spawnSync(command, args, {
    ...options,
    stdio: ["ignore", 2, 2],
    timeout: limitMs,
  });
  if (status === 0) return;
  throw new Error(`"${command} ${args.join(" ")}" failed with ${error?.message ?? status}.`);
}
