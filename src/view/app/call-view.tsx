/** One call of an episode: what is new in its prompt, the response, and what is known of it on demand. */
import { useEffect, useRef } from "preact/hooks";
import type { ViewCall, CallHttp, HttpBodies } from "../api/conversation.ts";
import { shortNumber, whole } from "./format.ts";
import { Message } from "./message.tsx";
import { TokenInspector } from "./token-inspector.tsx";
import { TokenText } from "./token-text.tsx";
import type { PairedResults } from "../tool-results.ts";
import { LongText, readableJson } from "./message-text.tsx";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";

function Body({ title, body }: { title: string; body: HttpBodies["request"] }) {
  return (
    <>
      <div class="role">
        {title}
        {body.text.length < body.length &&
          ` · the first ${whole(body.text.length)} of ${whole(body.length)} characters`}
      </div>
      <LongText text={readableJson(body.text)} kind="raw" />
    </>
  );
}

/** A call as it went over HTTP, for those who look for what the agent really sent. */
function CallHttpView({ run, n, call }: { run: number; n: number; call: number }) {
  const { value: http, error } = useRead<CallHttp>(
    `/api/runs/${run}/episodes/${n}/http?call=${call}`,
  );
  if (http === null) return <Pending what="the request" error={error} />;
  const { bodies, captured, note } = http;
  return (
    <section class="tokens" aria-label={`HTTP of call ${call + 1}`}>
      {bodies === null ? (
        <p class="dim">{note}</p>
      ) : (
        <>
          <p>
            <code>POST {bodies.path}</code>{" "}
            <span class="dim">Anything that looks like a key is redacted.</span>
          </p>
          <Body title="headers" body={headerText(bodies.headers)} />
          <Body title="request body" body={bodies.request} />
          <Body title="response body" body={bodies.reply} />
        </>
      )}
      <details open={bodies === null}>
        <summary>As the gateway captured it: model, sampling parameters in use, tools</summary>
        <LongText text={JSON.stringify(captured, null, 2)} kind="raw" />
      </details>
    </section>
  );
}

function headerText(headers: HttpBodies["headers"]): HttpBodies["request"] {
  const text = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
  return { text, length: text.length };
}

export interface CallProps {
  readonly run: number;
  readonly n: number;
  readonly call: ViewCall;
  /** How deep its conversation lies below the first one. */
  readonly depth: number;
  readonly threadName: string | null;
  readonly isOpen: boolean;
  readonly isHttpOpen: boolean;
  readonly onToggle: () => void;
  readonly onToggleHttp: () => void;
  /** In a replay, what has been said so far. */
  readonly said: { readonly messages: number; readonly isWhole: boolean } | null;
  /** Scrolls to its end. */
  readonly isNewest: boolean;
  readonly results: PairedResults;
  /** Number by which the text of responses is coloured; empty for none. */
  readonly overlay: string;
}

function Facts({ run, n, call, isOpen, isHttpOpen, onToggle, onToggleHttp }: CallProps) {
  const facts = [
    `call ${call.k + 1}`,
    `${whole(call.promptTokens)} prompt`,
    `${whole(call.responseTokens)} response tokens`,
    `${shortNumber(call.seconds)} s`,
    `stop: ${call.stopReason}`,
    ...(call.weightVersion === null ? [] : [`weights ${call.weightVersion}`]),
  ];
  return (
    <>
      <div class="facts">
        <span class={call.stopReason === "length" ? "bad" : "dim"}>{facts.join(" · ")}</span>
        {call.hasTokens && (
          <button type="button" class="plain" aria-expanded={isOpen} onClick={onToggle}>
            Tokens
          </button>
        )}
        <button type="button" class="plain" aria-expanded={isHttpOpen} onClick={onToggleHttp}>
          HTTP
        </button>
        {call.notes.map((note) => (
          <span key={note} class="bad">
            {note}
          </span>
        ))}
      </div>
      {isOpen && <TokenInspector run={run} n={n} call={call.k} />}
      {isHttpOpen && <CallHttpView run={run} n={n} call={call.k} />}
    </>
  );
}

export function Call(props: CallProps) {
  const { run, n, call, depth, threadName, said, isNewest, results, overlay } = props;
  const end = useRef<HTMLDivElement>(null);
  const shown = said?.messages ?? 0;
  useEffect(() => {
    if (isNewest) end.current?.scrollIntoView({ block: "nearest" });
  }, [isNewest, shown, said?.isWhole]);
  if (said === null) return null;
  return (
    <div id={`call-${call.k}`} class={depth === 0 ? "call" : "call sub"}>
      {threadName !== null && <p class="thread">{threadName}</p>}
      {call.break !== undefined && (
        <p class="break">
          <strong>Prefix break.</strong> {call.break}
        </p>
      )}
      {call.newMessages
        .slice(0, said.messages)
        .map((message, i) =>
          results.paired.has(message) ? null : <Message key={i} message={message} />,
        )}
      {said.isWhole && (
        <>
          <Message message={call.response} results={results.byCall}>
            {overlay !== "" && call.hasTokens && (
              <TokenText run={run} n={n} call={call.k} by={overlay} text={call.response.text} />
            )}
          </Message>
          <Facts {...props} />
        </>
      )}
      <div ref={end} />
    </div>
  );
}
