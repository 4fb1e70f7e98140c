/** A message of a conversation, with the tools that it calls as cards. */
import type { ComponentChildren } from "preact";
import type { ViewMessage } from "../api/conversation.ts";
import { LongText } from "./message-text.tsx";
import { ToolCard } from "./tool-card.tsx";

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
