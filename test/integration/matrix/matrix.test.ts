/**
 * The rows of the matrix without their training: each framework of examples/frameworks/ with its newest
 * version, and each command-line agent. `-t "'openai'"` runs one of them.
 */
import { expect, it } from "vitest";
import { commandLineAgents } from "../../../scripts/matrix/command-line.ts";
import { measureCommandLine, measureFramework } from "../../../scripts/matrix/measure.ts";
import { frameworks, type Row } from "../../../scripts/matrix/rows.ts";

interface Case {
  readonly name: string;
  /** What its row says without anything having failed. */
  readonly note: string | undefined;
  readonly atLeast: number;
  readonly measure: () => Promise<Row>;
}

const cases: readonly Case[] = [
  ...frameworks.map((one) => ({
    name: one.name,
    note: [one.note, one.untrained].filter(Boolean).join("; ") || undefined,
    atLeast: 1000,
    measure: () => measureFramework(one, one.versions[0]!, one.node, 0),
  })),
  ...commandLineAgents.map((one) => ({
    name: one.name,
    note: one.note,
    atLeast: one.toolCalls === undefined ? 1000 : 200,
    measure: () => measureCommandLine(one),
  })),
];

it.each(cases)(
  "every call of $name is captured in its own rollout",
  { timeout: 900_000 },
  async ({ note: expected, atLeast, measure }) => {
    const { calls, captured, misattributed, note } = await measure();
    expect({ note, captured, misattributed }).toEqual({
      note: expected,
      captured: calls,
      misattributed: 0,
    });
    expect(calls).toBeGreaterThanOrEqual(atLeast);
  },
);
