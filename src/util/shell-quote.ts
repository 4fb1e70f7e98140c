/** Quotes an argument for a POSIX shell where it needs it. */

const isPlain = /^[\w@%+=:,./-]+$/u;

export function shellQuote(argument: string): string {
  return isPlain.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}
