/** Where the final result stands in a longer text. */

/** The content of the last `\boxed{...}` or `\fbox{...}` with balanced braces; null without one. */
export function lastBoxed(text: string): string | null {
  const at = Math.max(text.lastIndexOf("\\boxed"), text.lastIndexOf("\\fbox"));
  if (at === -1) return null;
  const open = text.indexOf("{", at);
  if (open === -1 || text.slice(text.indexOf("box", at) + "boxed".length, open).trim() !== "") {
    const bare = /^\\(?:boxed|fbox) (\S{1,200})/u.exec(text.slice(at, at + 220))?.[1];
    return bare === undefined ? null : bare.replaceAll("$", "");
  }
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) return text.slice(open + 1, i);
  }
  return null;
}

/** What follows the last `####`, up to the end of its line, as in GSM8K; null without one. */
export function afterMarker(text: string): string | null {
  const at = text.lastIndexOf("####");
  if (at === -1) return null;
  return text
    .slice(at + "####".length)
    .split("\n", 1)[0]!
    .trim();
}

/** What follows the last "answer is" or "answer:", up to the end of its line; null without one. */
export function afterAnswerIs(text: string): string | null {
  const lower = text.toLowerCase();
  const [at, length] = ["answer is", "answer:", "answer is:", "answer:**"]
    .map((phrase): [number, number] => [lower.lastIndexOf(phrase), phrase.length])
    .reduce((best, one) => (one[0] + one[1] > best[0] + best[1] ? one : best), [-1, 0]);
  if (at === -1) return null;
  return text
    .slice(at + length)
    .trimStart()
    .split("\n", 1)[0]!
    .trim();
}
