import { describe, expect, it } from "vitest";
import type { NodeSpec } from "../onnx/model.ts";
import { lastThingsLast, liveNodes } from "./node-order.ts";

const node = (
  output: string,
  inputs: readonly string[],
  attributes: NodeSpec["attributes"] = {},
): NodeSpec => ({ op: "Op", inputs, outputs: [output], attributes, domain: "" });
const names = (nodes: readonly NodeSpec[]): string[] => nodes.map(({ outputs }) => outputs[0]!);

describe("liveNodes", () => {
  it("drops what no output needs, with all that only it needed", () => {
    const nodes = [node("a", ["x"]), node("b", ["x"]), node("c", ["b"]), node("out", ["a"])];
    expect(names(liveNodes(nodes, ["out"]))).toEqual(["a", "out"]);
  });

  it("keeps what a loop's body reads from outside", () => {
    const body = { nodes: [node("inner", ["a"])], constants: [], inputs: [], outputs: [] };
    const nodes = [node("a", ["x"]), node("loop", ["n"], { body: { graph: body } })];
    expect(names(liveNodes(nodes, ["loop"]))).toEqual(["a", "loop"]);
  });
});

describe("lastThingsLast", () => {
  it("puts nodes that only outputs follow at the end, the latest made first", () => {
    // A chain a - b - c; from each link hangs an end, copied to an output.
    const nodes = [
      node("a", ["x"]),
      node("endA", ["a"]),
      node("b", ["a"]),
      node("endB", ["b"]),
      node("c", ["b"]),
      node("endC", ["c"]),
      node("outA", ["endA"]),
      node("outB", ["endB"]),
      node("outC", ["endC"]),
    ];
    expect(names(lastThingsLast(nodes, ["outA", "outB", "outC"]))).toEqual([
      ...["a", "b", "c"],
      ...["endC", "endB", "endA"],
      ...["outC", "outB", "outA"],
    ]);
  });
});
