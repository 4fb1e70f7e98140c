import { describe, expect, it } from "vitest";
import { MessageWriter } from "./protobuf.ts";

const hex = (message: MessageWriter): string => Buffer.from(message.finish()).toString("hex");

describe("MessageWriter", () => {
  // Worked examples of https://protobuf.dev/programming-guides/encoding/
  it("encodes the documented examples", () => {
    expect(hex(new MessageWriter().integer(1, 150))).toBe("089601");
    expect(hex(new MessageWriter().string(2, "testing"))).toBe("120774657374696e67");
    expect(hex(new MessageWriter().message(3, new MessageWriter().integer(1, 150)))).toBe(
      "1a03089601",
    );
    expect(hex(new MessageWriter().integer(1, -2))).toBe("08feffffffffffffffff01");
  });

  it("encodes floats in little-endian order and keeps integers beyond 32 bits", () => {
    expect(hex(new MessageWriter().float(2, 1))).toBe("150000803f");
    expect(hex(new MessageWriter().integer(1, 2 ** 40))).toBe("08808080808020");
  });

  it("encodes a field number above 15 in two bytes", () => {
    expect(hex(new MessageWriter().integer(20, 1))).toBe("a00101");
  });
});
