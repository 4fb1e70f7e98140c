import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { listResources } from "./process-end.ts";

describe("listResources", () => {
  const pipe = new Socket();

  it("counts what is open, without the process's own streams", () => {
    const found = ["PipeWrap", "PipeWrap", "Timeout", "TCPSocketWrap", "PipeWrap", "Timeout"];
    expect(listResources(found, [pipe, pipe])).toBe("PipeWrap, Timeout (2), TCPSocketWrap");
    expect(listResources(["PipeWrap", "TTYWrap"], [pipe, {}])).toBe("");
    expect(listResources(["PipeWrap"], [{}, {}])).toBe("PipeWrap");
  });
});
