/** A call as it went over HTTP, for those who look for what the agent really sent. */
import type { CallHttp, HttpBodies } from "../api/conversation.ts";
import { whole } from "./format.ts";
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

export function CallHttpView({ run, n, call }: { run: number; n: number; call: number }) {
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
