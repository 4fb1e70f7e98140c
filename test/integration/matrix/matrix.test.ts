/**
 * The rows of the matrix without their training: each framework of examples/frameworks/ with its newest
 * version, and each command-line agent. `-t openai` runs one of them.
 */
import { expect, it } from "vitest";
import { commandLineAgents } from "../../../scripts/matrix/command-line.ts";
import { measureCommandLine, measureFramework } from "../../../scripts/matrix/measure.ts";
import { frameworks, type Row } from "../../../scripts/matrix/rows.ts";

const rows: readonly (readonly [string, () => Promise<Row>])[] = [
  ...frameworks.map(
    (one) => [one.name, () => measureFramework(one, one.versions[0]!, one.node, 0)] as const,
  ),
  ...commandLineAgents.map((one) => [one.name, () => measureCommandLine(one)] as const),
];

it.each(rows)(
  "every call of %s is captured in its own rollout",
  { timeout: 900_000 },
  async (row, measure) => {
    const { calls, captured, misattributed, note } = await measure();
    expect({ note, captured, misattributed }).toEqual({
      note: frameworks.find(({ name }) => name === row)?.untrained,
      captured: calls,
      misattributed: 0,
    });
    expect(calls).toBeGreaterThanOrEqual(1000);
  },
);
