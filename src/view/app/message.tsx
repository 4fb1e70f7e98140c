/** A message of a conversation. What a model wrote is only ever text here. */
import { useState } from "preact/hooks";
import type { ViewMessage } from "../api.ts";

/** Characters that are shown at once; the rest on demand. */
const atOnce = 20_000;

export function LongText({ text, kind }: { text: string; kind: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > atOnce;
  return (
    <>
      <pre class={kind} dir="auto">
        {isLong && !isWhole ? text.slice(0, atOnce) : text}
      </pre>
      {isLong && !isWhole && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString("en")} characters
        </button>
      )}
    </>
  );
}

/** JSON with line breaks, where it is JSON of a size that is worth it. */
export function readableJson(text: string): string {
  if (text.length > 50_000) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const firstLine = (text: string): string => text.slice(0, 100).split("\n")[0] ?? "";

export function Message({ message }: { message: ViewMessage }) {
  const { role, text, name, reasoning, toolCalls = [], isToolError = false } = message;
  const kind = isToolError ? "error" : role;
  const isFolded = (role === "system" || role === "tool") && text.length > 60;
  const body = text === "" ? null : <LongText text={text} kind={kind} />;
  return (
    <div class="message">
      <div class="role">
        {role}
        {name !== undefined && ` · ${name}`}
        {isToolError && <span class="bad"> · error</span>}
      </div>
      {reasoning !== undefined && (
        <details open>
          <summary>reasoning</summary>
          <LongText text={reasoning} kind="reasoning" />
        </details>
      )}
      {isFolded ? (
        <details open={isToolError}>
          <summary>{firstLine(text)}</summary>
          {body}
        </details>
      ) : (
        body
      )}
      {toolCalls.map((call) => (
        <details key={call.id} class="tool-call">
          <summary>
            → <strong>{call.name}</strong> {firstLine(call.arguments)}
          </summary>
          <LongText text={readableJson(call.arguments)} kind="assistant" />
        </details>
      ))}
      {body === null && toolCalls.length === 0 && reasoning === undefined && (
        <p class="dim">(empty)</p>
      )}
    </div>
  );
}
