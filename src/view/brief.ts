/** What an episode did, in a few lines: tools that were called, what came back, and what was said. Pure. */
import type { Conversation, ViewMessage } from "./api/conversation.ts";

export type BriefLine = readonly ["calls" | "tool" | "says", string];

/** The arguments of a call; null where they are not an object, or too long to be worth it. */
export function argumentFields(text: string): readonly (readonly [string, unknown])[] | null {
  if (text.length > 50_000) return null;
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    return Object.entries(value);
  } catch {
    return null;
  }
}

/** The value of an argument, as text. */
export function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  const isPlain = typeof value !== "object" || value === null;
  return JSON.stringify(value, null, isPlain ? 0 : 2) ?? "";
}

/** In a line: `item: lamp, count: 2`. */
function argumentsText(text: string): string {
  const fields = argumentFields(text);
  return fields === null
    ? text
    : fields.map(([name, value]) => `${name}: ${argumentText(value)}`).join(", ");
}

/** Without the instructions, which are the same before and after. */
export function briefLines({
  trajectories,
}: Pick<Conversation, "trajectories">): readonly BriefLine[] {
  const of = (message: ViewMessage): BriefLine[] => [
    ...(message.text.trim() === ""
      ? []
      : [[message.role === "tool" ? "tool" : "says", message.text] as const]),
    ...(message.toolCalls ?? []).map(
      ({ name, arguments: given }) => ["calls", `${name} ${argumentsText(given)}`] as const,
    ),
  ];
  return trajectories
    .flatMap(({ calls }) => calls)
    .flatMap(({ newMessages, response }) => [
      ...newMessages.filter(({ role }) => role === "tool"),
      response,
    ])
    .flatMap(of);
}

/** Before each line, for those who see no columns. */
export const briefSigns: Readonly<Record<BriefLine[0], string>> = {
  calls: "→",
  tool: "=",
  says: "“",
};
