/** Child: a client that sends random schemas on some connections at once, and those of the tests first. */
import type { JsonValue } from "../../src/core/message.ts";
import { hostileSchemas } from "../../test/grammar/hostile-schemas.ts";
import { randomSchema } from "../../test/grammar/random-schema.ts";
import { answer } from "../harness/child-side.ts";
import { callForm, type Session } from "./call-form.ts";

export interface StrangerInput {
  readonly session: Session;
  /** Seeds of random schemas: from this one, so many. */
  readonly first: number;
  readonly count: number;
  readonly connections: number;
  readonly withHostile: boolean;
}

export interface StrangerOutput {
  readonly accepted: number;
  readonly refused: number;
}

/** JSON.stringify itself ends with one that is too deep. */
const sendable = hostileSchemas
  .filter(([name]) => name !== "10,000 lists within lists")
  .map(([, , schema]) => schema);

answer(
  async ({
    session,
    first,
    count,
    connections,
    withHostile,
  }: StrangerInput): Promise<StrangerOutput> => {
    const found = { accepted: 0, refused: 0 };
    const hostile = withHostile ? sendable : [];
    let next = 0;
    const schemaAt = (i: number): JsonValue =>
      hostile[i] ?? randomSchema(first + i - hostile.length);
    await Promise.all(
      Array.from({ length: connections }, async () => {
        while (next < count + hostile.length) {
          const status = await callForm(session, schemaAt(next++));
          if (status === 200) found.accepted++;
          else if (status === 400) found.refused++;
          else throw new Error(`A schema was answered with ${status}.`);
        }
      }),
    );
    return found;
  },
);
