import { describe, expect, it } from "vitest";
import { ProtoWriter } from "./protobuf-writer.ts";

const hex = (message: ProtoWriter): string => Buffer.from(message.finish()).toString("hex");

describe("ProtoWriter", () => {
  // Worked examples of https://protobuf.dev/programming-guides/encoding/
  it("encodes the documented examples", () => {
    expect(hex(new ProtoWriter().integer(1, 150))).toBe("089601");
    expect(hex(new ProtoWriter().string(2, "testing"))).toBe("120774657374696e67");
    expect(hex(new ProtoWriter().message(3, new ProtoWriter().integer(1, 150)))).toBe("1a03089601");
    expect(hex(new ProtoWriter().integer(1, -2))).toBe("08feffffffffffffffff01");
  });

  it("encodes floats in little-endian order and keeps integers beyond 32 bits", () => {
    expect(hex(new ProtoWriter().float(2, 1))).toBe("150000803f");
    expect(hex(new ProtoWriter().integer(1, 2 ** 40))).toBe("08808080808020");
  });

  it("encodes doubles and packed numbers", () => {
    expect(hex(new ProtoWriter().double(2, 1))).toBe("11000000000000f03f");
    // The documented example of a packed field.
    expect(hex(new ProtoWriter().packed(6, [3, 270, 86_942]))).toBe("3206038e029ea705");
    expect(hex(new ProtoWriter().packed(6, []))).toBe("");
  });

  it("encodes a field number above 15 in two bytes", () => {
    expect(hex(new ProtoWriter().integer(20, 1))).toBe("a00101");
  });
});
