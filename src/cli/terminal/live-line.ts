/** A line of a terminal that is rewritten in place. */
import { canRewrite, colorsFor, type TextStream, type Colors, safeText } from "./terminal.ts";
import { wrapText } from "./wrap-text.ts";

/** A warning as a terminal shows it: its first word in color, broken between words. */
function warningText(message: string, colors: Colors, columns: number | undefined): string {
  const lines = wrapText(`warning: ${safeText(message)}`, columns, 2);
  return lines.replace("warning:", colors.yellow("warning:"));
}

export interface LiveLine {
  /** False where a line cannot be rewritten: nothing is shown then. */
  readonly isLive: boolean;
  show(parts: readonly string[]): void;
  readonly clear: () => void;
  /** A line that stays, in its place. */
  readonly print: (text: string) => void;
  readonly warn: (message: string) => void;
}

/** Of every display of progress. */
export interface ProgressOptions {
  readonly stream: TextStream;
  /** Print only warnings. */
  readonly isQuiet: boolean;
  /** Milliseconds. @default Date.now */
  readonly now?: () => number;
  /** @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * What fits, since a line that wraps cannot be rewritten: whole parts, the longest ones left out first. The
 * last one, which is the time left where that is known, stays longest after the first.
 */
function fitted(parts: readonly string[], columns: number): string {
  const text = parts.join("  ");
  if (text.length < columns || parts.length <= 1) return text;
  const inner = parts.length > 2 ? parts.slice(1, -1) : parts.slice(1);
  const longest = Math.max(...inner.map(({ length }) => length));
  const at = 1 + inner.findIndex(({ length }) => length === longest);
  return fitted(parts.toSpliced(at, 1), columns);
}

export function createLiveLine({ stream, isQuiet, env = process.env }: ProgressOptions): LiveLine {
  const isLive = canRewrite(stream, env) && !isQuiet;
  let isShown = false;
  const clear = (): void => {
    if (isShown) stream.write("\r\u001B[2K");
    isShown = false;
  };
  const print = (text: string): void => {
    clear();
    stream.write(`${text}\n`);
  };
  return {
    isLive,
    show(parts) {
      if (!isLive) return;
      stream.write(`\r\u001B[2K${fitted(parts, stream.columns ?? 80)}`);
      isShown = true;
    },
    clear,
    print,
    warn: (message) => print(warningText(message, colorsFor(stream, env), stream.columns)),
  };
}
