/** Two texts next to each other, or one below the other where there is no room. */
import { wrapText } from "../terminal/wrap-text.ts";

export interface Headed {
  readonly title: string;
  readonly text: string;
}

interface Line {
  readonly line: string;
  readonly show: (text: string) => string;
}

/** Fewer columns leave too little for each text. */
const leastColumns = 100;
const gap = " │ ";

/** Lines of at most this many characters; a word that is longer is broken. */
function linesOf(text: string, width: number): string[] {
  return wrapText(text, width)
    .split("\n")
    .flatMap((line) => line.match(new RegExp(`.{1,${width}}`, "gu")) ?? [""]);
}

/** With a trailing newline. @param paint titles */
export function sideBySide(
  [left, right]: readonly [Headed, Headed],
  columns: number | undefined,
  paint: (title: string) => string,
): string {
  if (columns === undefined || columns < leastColumns) {
    return [left, right].map(({ title, text }) => `${paint(title)}\n${text}\n`).join("");
  }
  const width = Math.floor((columns - 1 - gap.length) / 2);
  const column = ({ title, text }: Headed): Line[] => [
    ...linesOf(title, width).map((line) => ({ line, show: paint })),
    ...linesOf(text, width).map((line) => ({ line, show: String })),
  ];
  const before = column(left);
  const after = column(right);
  const rows = Array.from({ length: Math.max(before.length, after.length) }, (_, i) => {
    const [a, b] = [before[i], after[i]];
    const padding = " ".repeat(width - (a?.line.length ?? 0));
    return `${a?.show(a.line) ?? ""}${padding}${gap}${b?.show(b.line) ?? ""}`.trimEnd();
  });
  return `${rows.join("\n")}\n`;
}
