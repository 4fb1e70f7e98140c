/** Lists and objects from attributes whose names have dots: `llm.input_messages.0.message.role`. */
import type { Attributes } from "../otlp/otlp-span.ts";

interface Node {
  [key: string]: unknown;
}

const maxDepth = 12;
/** Items of a list that may be missing. */
const maxMissing = 1000;

function listed(node: unknown): unknown {
  if (typeof node !== "object" || node === null || Array.isArray(node)) return node;
  const entries = Object.entries(node).map(([key, value]) => [key, listed(value)] as const);
  const isList = entries.length > 0 && entries.every(([key]) => /^\d{1,6}$/u.test(key));
  if (!isList) return Object.fromEntries(entries);
  const items: unknown[] = [];
  for (const [key, value] of entries) items[Number(key)] = value;
  // What a limit left out is seen; far beyond the others, they are names.
  const isDense = items.length <= entries.length + maxMissing;
  return isDense ? Array.from(items, (item) => item ?? null) : Object.values(items);
}

/** What is below `prefix`, which ends in a dot; undefined where nothing is. */
export function unflatten(attributes: Attributes, prefix: string): unknown {
  const root: Node = Object.create(null) as Node;
  let isEmpty = true;
  for (const [name, value] of Object.entries(attributes)) {
    if (!name.startsWith(prefix)) continue;
    isEmpty = false;
    const path = name.slice(prefix.length).split(".", maxDepth);
    let node = root;
    for (const key of path.slice(0, -1)) {
      const next = node[key];
      node = (
        typeof next === "object" && next !== null
          ? next
          : (node[key] = Object.create(null) as unknown)
      ) as Node;
    }
    node[path.at(-1)!] = value;
  }
  return isEmpty ? undefined : listed(root);
}
