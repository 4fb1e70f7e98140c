/** Terminal capabilities, and text that is safe to print. */
import { stripVTControlCharacters } from "node:util";
import { createColors } from "picocolors";

export type Colors = ReturnType<typeof createColors>;

/** The part of a writable stream that is needed here. */
export interface TextStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Colors for a stream: off without a terminal, for `NO_COLOR` and `TERM=dumb`; `FORCE_COLOR` wins. */
export function colorsFor(stream: TextStream, env: Environment = process.env): Colors {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return createColors(forced !== "0");
  const isOff = (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
  return createColors(stream.isTTY === true && !isOff);
}

/** True when a line may be rewritten in place. */
export function canRewrite(stream: TextStream, env: Environment = process.env): boolean {
  return stream.isTTY === true && env["TERM"] !== "dumb" && (env["CI"] ?? "") === "";
}

// All but line feed and tab; the format class holds the marks that reorder or hide text.
const controls = /(?![\n\t])[\p{Cc}\p{Cf}]/gu;

/** Text from a model or a dataset, without control sequences that a terminal would interpret. */
export function safeText(text: string): string {
  // Escape sequences first, so that their letters do not stay behind as text.
  return stripVTControlCharacters(text).replaceAll(controls, "");
}
