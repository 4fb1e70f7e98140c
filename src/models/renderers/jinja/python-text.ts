/** JSON values as Python's `str()` writes them: SmolLM3's template describes tools that way. */
import type { JsonValue } from "../../../core/message.ts";

const short: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\\": "\\\\",
};

/** What Python does not print, apart from private-use characters: those mark here what is no control token. */
const unprintable = /[\\\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

function escaped(character: string): string {
  const code = character.codePointAt(0)!;
  const [letter, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
  return short[character] ?? `\\${letter}${code.toString(16).padStart(digits, "0")}`;
}

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replaceAll(unprintable, escaped);
  return `${quote}${quote === "'" ? inner.replaceAll("'", "\\'") : inner}${quote}`;
}

export function pythonText(value: JsonValue): string {
  if (value === null) return "None";
  if (typeof value === "string") return quoted(value);
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) return `[${value.map(pythonText).join(", ")}]`;
  const fields = Object.entries(value).map(
    ([key, field]) => `${quoted(key)}: ${pythonText(field)}`,
  );
  return `{${fields.join(", ")}}`;
}
