/**
 * JSON as text: reformatted without being parsed into values, because values lose what models and tools
 * care for (long integers, 1.0, the order of keys that look like numbers).
 */

const lexemes = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

function lex(text: string): readonly string[] | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  return text.match(lexemes) ?? [];
}

function write(text: string, comma: string, colon: string): string | null {
  return (
    lex(text)
      ?.map((lexeme) => {
        if (lexeme === ",") return comma;
        if (lexeme === ":") return colon;
        // Unnecessary escapes are undone, as every JSON writer does.
        return lexeme.startsWith('"') ? JSON.stringify(JSON.parse(lexeme)) : lexeme;
      })
      .join("") ?? null
  );
}

/** With a space after colons and commas, as Python's json.dumps writes it; null when it is not JSON. */
export function spacedJson(text: string): string | null {
  return write(text, ", ", ": ");
}

/** Without spaces; null when it is not JSON. */
export function compactJson(text: string): string | null {
  return write(text, ",", ":");
}

/** The fields of an object, each as compact JSON; null when it is not a JSON object. */
export function objectFields(text: string): ReadonlyMap<string, string> | null {
  const all = lex(text);
  if (all?.[0] !== "{") return null;
  const fields = new Map<string, string>();
  let depth = 0;
  let start = 1;
  for (const [i, lexeme] of all.entries()) {
    if (lexeme === "{" || lexeme === "[") depth++;
    else if (lexeme === "}" || lexeme === "]") depth--;
    if ((depth === 1 && lexeme === ",") || depth === 0) {
      const [key, , ...value] = all.slice(start, i);
      if (key !== undefined) {
        fields.set(JSON.parse(key) as string, compactJson(value.join("")) ?? "null");
      }
      start = i + 1;
    }
  }
  return fields;
}

/** End of the JSON object or array that starts at `start`; -1 when it is not closed. */
export function jsonEnd(text: string, start: number): number {
  let depth = 0;
  for (const match of text.slice(start).matchAll(lexemes)) {
    const [lexeme] = match;
    if (lexeme === "{" || lexeme === "[") depth++;
    else if (lexeme === "}" || lexeme === "]") depth--;
    if (depth === 0) return start + match.index + lexeme.length;
  }
  return -1;
}
