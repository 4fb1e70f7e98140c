/** A tool call with its arguments and what came back, as one card. */
import type { ToolCall } from "../../core/message.ts";
import type { ViewMessage } from "../api.ts";
import { LongText, readableJson } from "./message-text.tsx";

/** Values of an argument that fit into a line of their name. */
const isPlain = (value: unknown): boolean => typeof value !== "object" || value === null;

/** The arguments of a call; null where they are no object, or too long to be worth it. */
function fieldsOf(text: string): readonly (readonly [string, unknown])[] | null {
  if (text.length > 50_000) return null;
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    return Object.entries(value);
  } catch {
    return null;
  }
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, isPlain(value) ? 0 : 2) ?? "");

/** In a line: `item: lamp, count: 2`. */
export function argumentsText(text: string): string {
  const fields = fieldsOf(text);
  return fields === null
    ? text
    : fields.map(([name, value]) => `${name}: ${textOf(value)}`).join(", ");
}

function Arguments({ text }: { text: string }) {
  const fields = fieldsOf(text);
  if (fields === null) return <LongText text={readableJson(text)} kind="arguments-text" />;
  if (fields.length === 0) return <span class="dim small">none</span>;
  return (
    <dl class="arguments">
      {fields.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd dir="auto">{textOf(value)}</dd>
        </>
      ))}
    </dl>
  );
}

interface ToolCardProps {
  readonly call: ToolCall;
  /** Null where none has come back, or not yet in a replay. */
  readonly result: ViewMessage | null;
}

export function ToolCard({ call, result }: ToolCardProps) {
  const isFailed = result?.isToolError === true;
  return (
    <section class={isFailed ? "tool-card failed" : "tool-card"} aria-label={`Tool ${call.name}`}>
      <header>
        <span aria-hidden="true">⚙</span>
        <strong>{call.name}</strong>
        <span class={`state ${isFailed ? "bad" : result === null ? "dim" : "good"}`}>
          {isFailed ? "✕ error" : result === null ? "no result" : "✓ returned"}
        </span>
      </header>
      <div class="parts">
        <h3>arguments</h3>
        <Arguments text={call.arguments} />
        {result !== null && (
          <>
            <h3>result</h3>
            <LongText text={readableJson(result.text)} kind={isFailed ? "error" : "tool"} />
          </>
        )}
      </div>
    </section>
  );
}
