/** A message of a conversation, with the tools that it calls as cards. */
import type { ComponentChildren } from "preact";
import type { ViewMessage } from "../api/conversation.ts";
import { LongText, readableJson } from "./message-text.tsx";
import type { ToolCall } from "../../core/message.ts";
import { argumentFields, argumentText } from "../brief.ts";

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

/** A tool call with its arguments and what came back, as one card. */
function ToolCard({ call, result }: ToolCardProps) {
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

const firstLine = (text: string): string => text.slice(0, 100).split("\n")[0] ?? "";

interface MessageProps {
  readonly message: ViewMessage;
  /** Results of its tool calls, by the call's id. @default none */
  readonly results?: ReadonlyMap<string, ViewMessage>;
  /** In the place of its text, such as its tokens. */
  readonly children?: ComponentChildren;
}

export function Message({ message, results, children }: MessageProps) {
  const { role, text, name, reasoning, toolCalls = [], isToolError = false } = message;
  const kind = isToolError ? "error" : role;
  const isFolded = (role === "system" || role === "tool") && text.length > 60;
  const isReplaced = children !== undefined && children !== null && children !== false;
  const body = text === "" ? null : <LongText text={text} kind={kind} />;
  return (
    <div class={`message ${role}`}>
      <div class="role">
        {role}
        {name !== undefined && ` · ${name}`}
        {isToolError && <span class="bad"> · error</span>}
      </div>
      {isReplaced && children}
      {!isReplaced && (
        <>
          {reasoning !== undefined && (
            <details open>
              <summary class="small dim">reasoning</summary>
              <LongText text={reasoning} kind="reasoning" />
            </details>
          )}
          {isFolded ? (
            <details open={isToolError}>
              <summary class="dim">{firstLine(text)}</summary>
              {body}
            </details>
          ) : (
            body
          )}
        </>
      )}
      {toolCalls.map((call) => (
        <ToolCard key={call.id} call={call} result={results?.get(call.id) ?? null} />
      ))}
      {body === null && toolCalls.length === 0 && reasoning === undefined && !isReplaced && (
        <p class="dim">(empty)</p>
      )}
    </div>
  );
}
