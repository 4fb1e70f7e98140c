/** The answer that a task expects, where its metadata has one under a usual name. Pure. */

/** In this order; compared without case, underscores and hyphens. */
const names = [
  "answer",
  "expected",
  "expectedanswer",
  "expectedoutput",
  "groundtruth",
  "target",
  "solution",
  "gold",
  "label",
  "reference",
  "referenceanswer",
  "finalanswer",
] as const;

const plain = (name: string): string => name.toLowerCase().replaceAll(/[_-]/gu, "");

/** Null where no field has a usual name. */
export function expectedAnswer(metadata: unknown): string | null {
  if (typeof metadata !== "object" || metadata === null) return null;
  const fields = new Map(Object.entries(metadata).map(([name, value]) => [plain(name), value]));
  const value = names
    .map((name) => fields.get(name) as unknown)
    .find((one) => one !== undefined && one !== null);
  if (value === undefined) return null;
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
