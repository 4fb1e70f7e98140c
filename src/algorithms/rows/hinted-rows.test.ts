import { describe, expect, it } from "vitest";
import { byteRenderer, conversation, toolSays } from "../../../test/conversation.ts";
import type { Episode, TrajectoryGroup } from "../../core/trajectory.ts";
import { hintedRow } from "./hinted-rows.ts";
import { buildRows } from "./rows.ts";

const steps = conversation([[toolSays("sun")]], [{ role: "system", content: "S" }]);
const trajectory = { uid: "u", name: "agent", steps, reward: 1, signals: {}, metadata: {} };
const episode = { id: "e", task: { id: "a" }, rolloutIndex: 0 } as unknown as Episode;
const group: TrajectoryGroup = {
  ...{ id: "a:agent", taskId: "a", name: "agent" },
  members: [{ trajectory, episode, reward: 1 }],
};
const [row] = buildRows([group], [[1]]).rows;
const trace = steps[0]!.trace;

describe("hintedRow", () => {
  it("has the hint at the end of the question, and all else as it was", () => {
    const hinted = hintedRow(row!, trace, byteRenderer, " (42)")!;
    expect(hinted.shift).toBe(5);
    const text = (tokens: Int32Array): string => byteRenderer.decode(tokens);
    expect(text(hinted.row.tokens)).toBe(text(row!.tokens).replace("Q", "Q (42)"));
    const end = trace.promptIds.length;
    for (const name of ["tokens", "targetMask", "samplingLogprobs"] as const)
      expect(hinted.row[name].subarray(end + 5)).toEqual(row![name].subarray(end));
    expect(hinted.row.targetMask.subarray(0, end + 5).includes(1)).toBe(false);
  });

  it("moves what rules apply to", () => {
    const one = { rules: { bias: [] }, maxTokens: 4, stopTokenIds: [] } as never as object;
    const ruled = { ...row!, rules: [{ ...one, start: 20, end: 23 }] } as unknown as typeof row;
    const hinted = hintedRow(ruled!, trace, byteRenderer, "!!")!;
    expect(hinted.row.rules).toMatchObject([{ start: 22, end: 25 }]);
  });

  it("is none where the prompt was written in another way, or has no question", () => {
    const other = { ...trace, messages: [{ role: "user" as const, content: "Another" }] };
    expect(hintedRow(row!, other, byteRenderer, "!")).toBeNull();
    const silent = { ...trace, messages: [{ role: "system" as const, content: "S" }] };
    expect(hintedRow(row!, silent, byteRenderer, "!")).toBeNull();
  });
});
