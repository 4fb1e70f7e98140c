/** Child: a client that sends schemas on some connections at once. */
import type { JsonValue } from "../../src/core/message.ts";
import { hostileSchemas } from "../../test/grammar/hostile-schemas.ts";
import { randomSchema } from "../../test/grammar/random-schema.ts";
import { answer } from "../harness/child-side.ts";
import { callForm, type Session } from "./call-form.ts";

export interface StrangerInput {
  readonly session: Session;
  /** Seeds of random schemas: from this one, so many; null for the schemas of the tests. */
  readonly random: { readonly first: number; readonly count: number } | null;
  readonly connections: number;
}

export interface StrangerOutput {
  readonly accepted: number;
  readonly refused: number;
}

/** JSON.stringify itself ends with one that is too deep. */
const sendable = hostileSchemas
  .filter(([name]) => name !== "10,000 lists within lists")
  .map(([, , schema]) => schema);

answer(async ({ session, random, connections }: StrangerInput): Promise<StrangerOutput> => {
  const found = { accepted: 0, refused: 0 };
  const count = random?.count ?? sendable.length;
  const schemaAt = (i: number): JsonValue =>
    random === null ? sendable[i]! : randomSchema(random.first + i);
  let next = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (next < count) {
        const status = await callForm(session, schemaAt(next++));
        if (status === 200) found.accepted++;
        else if (status === 400) found.refused++;
        else throw new Error(`A schema was answered with ${status}.`);
      }
    }),
  );
  return found;
});
