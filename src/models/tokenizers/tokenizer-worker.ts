/** Entry point of the thread that encodes long texts. */
import { parentPort } from "node:worker_threads";
import { createTokenizer, type TextTokenizer } from "./tokenizer.ts";
import type { FromTokenizer, ToTokenizer } from "./tokenizer-thread.ts";

const port = parentPort;
if (port === null) throw new Error("tokenizer-worker.ts runs in a worker thread only.");

let tokenizer: TextTokenizer | undefined;

port.on("message", (message: ToTokenizer) => {
  if ("json" in message) {
    tokenizer = createTokenizer(message.json, message.source);
    return;
  }
  const send = (result: FromTokenizer, transfer: ArrayBuffer[] = []): void =>
    port.postMessage(result, transfer);
  try {
    if (tokenizer === undefined) throw new Error("There is no tokenizer.");
    const ids = Int32Array.from(tokenizer.encode(message.text));
    send({ ids }, [ids.buffer]);
  } catch (error) {
    send({ error: error instanceof Error ? error.message : String(error) });
  }
});
