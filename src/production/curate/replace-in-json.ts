/** Replaces texts and numbers of JSON where they stand: it stays JSON, with its white space, digits and order. */

/** Lexemes of a text that is JSON, whose values may be replaced. */
const values = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gu;

/** JSON in a string of JSON, and so on. */
const maxDepth = 4;

function isContainer(text: string): boolean {
  if (!/^\s*[{[]/u.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Calls `clean` with every string of JSON, keys too, and every number. A number that is replaced becomes a string.
 * What is not an object or a list is one text.
 */
export async function replaceInJson(
  text: string,
  clean: (text: string) => string | Promise<string>,
  depth = 0,
): Promise<string> {
  if (depth === maxDepth || !isContainer(text)) return await clean(text);
  const parts: string[] = [];
  let at = 0;
  for (const { 0: lexeme, index } of text.matchAll(values)) {
    const isText = lexeme.startsWith('"');
    const before = isText ? (JSON.parse(lexeme) as string) : lexeme;
    const after = isText ? await replaceInJson(before, clean, depth + 1) : await clean(before);
    if (after === before) continue;
    parts.push(text.slice(at, index), JSON.stringify(after));
    at = index + lexeme.length;
  }
  return parts.join("") + text.slice(at);
}
