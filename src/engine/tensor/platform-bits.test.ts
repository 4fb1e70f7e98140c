import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { createRandom } from "../../util/random.ts";
import { loadNative } from "../native/load-native.ts";
import { Device } from "./device.ts";
import { newMatrix, pack, product } from "./matrix.ts";
import { Program } from "./program.ts";
import { newTensor } from "./tensor.ts";

it.each(loadNative().instructionSets.map(({ name }) => name))(
  "gives products of bf16 the bits that they have on every other processor: %s",
  (instructionSet) => {
    const device = new Device({ threads: 2, instructionSet });
    const random = createRandom(8);
    const [x, weights, result] = [
      newTensor(device, 29, 200),
      newTensor(device, 150, 200),
      newTensor(device, 29, 150),
    ];
    for (const { data } of [x, weights])
      for (let i = 0; i < data.length; i++) data[i] = 2 * random() - 1;
    const matrix = newMatrix(device, 200, 150, "bf16");
    const program = new Program(device);
    pack(program, weights, matrix);
    product(program, x, matrix, result, { precision: "bf16" });
    program.runNow();
    const hash = createHash("sha256").update(new Uint8Array(result.data.slice().buffer));
    // The first was seen on x64 with AMX; the other on x64 (AVX-512 BF16, AVX-512, AVX2, SSE2), arm64 (with and without
    // BF16, emulated) and in wasm.
    const expected = instructionSet === "amx_bf16" ? "0d2c4765c9fc0ac4" : "fcf46468c2a96145";
    expect(hash.digest("hex").slice(0, 16)).toBe(expected);
  },
);
