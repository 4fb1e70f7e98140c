/** Where the final result stands in a longer text. */

/** The content of the last `\boxed{...}` or `\fbox{...}` with balanced braces; null without one. */
export function lastBoxed(text: string): string | null {
  const at = Math.max(text.lastIndexOf("\\boxed"), text.lastIndexOf("\\fbox"));
  return at === -1 ? null : (boxAt(text, at)?.content ?? null);
}

interface Box {
  readonly content: string;
  /** Where the text continues. */
  readonly end: number;
}

/** The box that starts here; null where its braces are not balanced. */
export function boxAt(text: string, at: number): Box | null {
  const start = at + (text.startsWith("\\boxed", at) ? "\\boxed" : "\\fbox").length;
  const open = start + /^\s{0,200}/u.exec(text.slice(start, start + 200))![0].length;
  if (text[open] !== "{") {
    const bare = /^ (\S{1,200})/u.exec(text.slice(start, start + 220))?.[1];
    if (bare === undefined) return null;
    return { content: bare.replaceAll("$", ""), end: start + 1 + bare.length };
  }
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) {
      return { content: text.slice(open + 1, i), end: i + 1 };
    }
  }
  return null;
}

const value = /^(?:[-+−$€£¥(.\d]|\\(?!text)|[A-Za-z](?: ?=|$))/u;
const numbered = /^\d{1,3}[.):](?:\s|$)\s*\S/u;

/**
 * What follows the last `####` up to the end of its line, as in GSM8K; null without one. A heading is no
 * marker: a result is a number or a formula, or all that is left of the text.
 */
export function afterMarker(text: string): string | null {
  const lines = text.split("\n");
  let isLast = true;
  for (let i = lines.length - 1; i >= 0; i--) {
    const line = lines[i]!;
    const at = line.lastIndexOf("####");
    const found = line
      .slice(at + "####".length)
      .replaceAll("**", "")
      .trim();
    const isMarker = at !== -1 && line[at - 1] !== "#" && found !== "";
    if (isMarker && isResult(found, isLast)) return found;
    isLast &&= line.trim() === "";
  }
  return null;
}

function isResult(found: string, isLast: boolean): boolean {
  const words = found.replaceAll(/\\[A-Za-z]+/gu, "").match(/[A-Za-z]{2,}/gu) ?? [];
  if (numbered.test(found)) return false;
  if (!isLast) return value.test(found) && words.length === 0;
  return value.test(found) || (words.length <= 4 && !found.endsWith(":"));
}
