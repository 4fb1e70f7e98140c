/** A tool call with its arguments and what came back, as one card. */
import type { ToolCall } from "../../core/message.ts";
import type { ViewMessage } from "../api/conversation.ts";
import { argumentFields, argumentText } from "../brief.ts";
import { LongText, readableJson } from "./message-text.tsx";

function Arguments({ text }: { text: string }) {
  const fields = argumentFields(text);
  if (fields === null) return <LongText text={readableJson(text)} kind="arguments-text" />;
  if (fields.length === 0) return <span class="dim small">none</span>;
  return (
    <dl class="arguments">
      {fields.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd dir="auto">{argumentText(value)}</dd>
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
