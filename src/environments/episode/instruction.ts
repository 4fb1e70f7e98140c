/** What a task asks for, in words, before an episode is opened: for lists, duplicates and leaks. */
import { jsonText } from "./json-text.ts";

const fields = ["instruction", "question", "prompt", "problem", "goal", "task", "query"];

const maxChars = 20_000;

/** A field that usually holds it; else the whole task as JSON. */
export function instructionOf(spec: Readonly<Record<string, unknown>>): string {
  for (const field of fields) {
    const value = spec[field];
    if (typeof value === "string" && value.trim() !== "") return value.slice(0, maxChars);
  }
  return jsonText(spec).slice(0, maxChars);
}
