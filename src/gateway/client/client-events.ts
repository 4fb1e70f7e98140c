/** Traces out of a stream of server-sent events, as the gateway writes them. */
import type { Trace } from "../../core/trace.ts";
import { fromWireTrace } from "./wire-read.ts";

type Wire = Readonly<Record<string, unknown>>;

/** The fields of one event; comments have none. */
function readFields(block: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const at = line.indexOf(": ");
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 2));
  }
  return fields;
}

/** Ends with the stream's own end. @throws the reason of `signal`. */
export async function* readTraceEvents(
  response: Response,
  signal: AbortSignal,
): AsyncGenerator<Trace, void, undefined> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const onAbort = (): void => {
    reader.cancel(signal.reason).catch(() => undefined);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() as string;
      for (const block of blocks) {
        const fields = readFields(block);
        if (fields.get("event") === "end") return;
        if (fields.get("event") !== "trace") continue;
        yield fromWireTrace(JSON.parse(fields.get("data") as string) as Wire);
      }
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    await reader.cancel().catch(() => undefined);
  }
}
