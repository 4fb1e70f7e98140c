/** Entry of the thread that compiles schemas, one after another. */
import { parentPort } from "node:worker_threads";
import type { JsonValue } from "../../core/message.ts";
import { compileSchema } from "../schema/compile-schema.ts";
import { outcomeOf, type SchemaOutcome } from "./schema-outcome.ts";

parentPort?.on("message", (schema: string) => {
  const outcome: SchemaOutcome = outcomeOf(() => compileSchema(JSON.parse(schema) as JsonValue));
  parentPort?.postMessage(outcome);
});
