/** The shell command that goes on with a run. */

const isPlain = /^[\w@%+=:,./-]+$/u;

/** Quotes an argument for a POSIX shell where it needs it. */
export function shellQuote(argument: string): string {
  return isPlain.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}

/** `agent-trainer ...` as it is typed. */
export function commandLine(args: readonly string[]): string {
  return ["agent-trainer", ...args].map(shellQuote).join(" ");
}
