/** What can go wrong with a response on its way. Knows no adapter. */
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

/** What goes wrong with one call. */
export type Fault =
  /** Another status; the response is never made. */
  | {
      readonly type: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** The connection is reset: before the head, or after so many bytes of the body. */
  | { readonly type: "reset"; readonly after?: number }
  /** A well-formed end after so many bytes of the body: half a JSON, or a stream that just stops. */
  | { readonly type: "cut"; readonly after: number }
  /** Nothing more comes: no head, or nothing after so many bytes of the body. */
  | { readonly type: "stall"; readonly after?: number }
  /** The body comes in chunks of `bytes`, one each `everyMs`; with both small, characters are split. */
  | { readonly type: "trickle"; readonly bytes: number; readonly everyMs: number }
  /** The right body under another name. */
  | { readonly type: "content-type"; readonly contentType: string }
  /** Each JSON value is sent as this makes of it. */
  | { readonly type: "rewrite"; readonly rewrite: (json: unknown) => unknown }
  /** Each event of a stream is sent twice. */
  | { readonly type: "duplicate" }
  /** Comments, CRLF and unknown fields among the events of a stream. */
  | { readonly type: "noise" }
  /** White space behind the JSON, or a comment in the stream, of so many bytes. */
  | { readonly type: "huge"; readonly bytes: number };

export interface Delivery {
  readonly response: ServerResponse;
  readonly contentType: string;
  /** JSON values: one of a whole response, one per event of a stream. */
  readonly values: readonly unknown[];
  readonly stream: boolean;
  /** Behind the last event. */
  readonly end: string;
}

function eventText(value: unknown, fault: Fault | undefined): string {
  const event = `data: ${JSON.stringify(value)}\n\n`;
  if (fault?.type === "duplicate") return event + event;
  if (fault?.type === "noise") {
    return `: keep-alive\r\n\r\nevent: message\r\nretry: 10\r\n${event.replaceAll("\n", "\r\n")}`;
  }
  return event;
}

function bodyOf({ values, stream, end }: Delivery, fault: Fault | undefined): Buffer {
  const sent = fault?.type === "rewrite" ? values.map((value) => fault.rewrite(value)) : values;
  const text = stream
    ? sent.map((value) => eventText(value, fault)).join("") + end
    : JSON.stringify(sent[0]);
  if (fault?.type !== "huge") return Buffer.from(text);
  const padding = " ".repeat(fault.bytes);
  return Buffer.from(stream ? `: ${padding}\n\n${text}` : text + padding);
}

/** Sends a response as `fault` has it; resolves when nothing more will be sent. */
export async function deliver(delivery: Delivery, fault: Fault | undefined): Promise<void> {
  const { response, contentType } = delivery;
  if (fault?.type === "status") {
    const { status, headers = {}, body = "{}" } = fault;
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
    return;
  }
  const isEarly = (fault?.type === "reset" || fault?.type === "stall") && fault.after === undefined;
  if (isEarly) {
    if (fault.type === "reset") response.socket?.resetAndDestroy();
    return;
  }
  const body = bodyOf(delivery, fault);
  const type = fault?.type === "content-type" ? fault.contentType : contentType;
  response.writeHead(200, { "content-type": type });
  if (fault?.type === "trickle") {
    for (let at = 0; at < body.length && !response.destroyed; at += fault.bytes) {
      response.write(body.subarray(at, at + fault.bytes));
      await delay(fault.everyMs);
    }
    response.end();
    return;
  }
  if (fault?.type !== "reset" && fault?.type !== "cut" && fault?.type !== "stall") {
    response.end(body);
    return;
  }
  await new Promise<void>((sent) => {
    response.write(body.subarray(0, fault.after), () => {
      sent();
    });
  });
  if (fault.type === "cut") response.end();
  // Else the bytes might be thrown away with the connection before the other side has read them.
  if (fault.type === "reset") setTimeout(() => response.socket?.resetAndDestroy(), 20);
}
