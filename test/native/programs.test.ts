import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { chooseNative } from "../../src/engine/native/load-native.ts";
import { Device } from "../../src/engine/tensor/device.ts";
import { newMatrix, pack, product } from "../../src/engine/tensor/matrix.ts";
import { Program } from "../../src/engine/tensor/program.ts";
import { newTensor, tensorOf, type Tensor } from "../../src/engine/tensor/tensor.ts";

const natives = [chooseNative("addon"), chooseNative("wasm")] as const;

/** y += x, by a product with 1. */
function adder(device: Device): (program: Program, x: Tensor, y: Tensor) => void {
  const one = newMatrix(device, 2, 1, "f32");
  const program = new Program(device);
  const row: Tensor = tensorOf(device, [1, 0]);
  pack(program, row, one);
  program.runNow();
  return (target, x, y) => product(target, x, one, y, { precision: "f32", accumulate: true });
}

describe.each(natives)("programs as $kind", (native) => {
  const device = new Device({ native, threads: 2 });
  const add = adder(device);

  it("run one after the other, those of this thread after all others", async () => {
    const y = tensorOf(device, [1]);
    const runs = Array.from({ length: 40 }, () => {
      const program = new Program(device);
      add(program, y, y);
      return program.run();
    });
    await Promise.all(runs.slice(0, 20));
    await Promise.all(runs);
    expect(y.data[0]).toBe(2 ** 40);
  });

  it("wait, on this thread, for one that runs", async () => {
    const [big, wide] = [newTensor(device, 512, 512), newTensor(device, 512, 512)];
    const matrix = newMatrix(device, 512, 512, "f32");
    const y = tensorOf(device, [1]);
    const first = new Program(device);
    for (let i = 0; i < 4; i++) product(first, big, matrix, wide, { precision: "f32" });
    add(first, y, y);
    const second = new Program(device);
    add(second, y, y);
    const ended = first.run();
    // Until it has begun.
    await new Promise((resolve) => setTimeout(resolve, 20));
    second.runNow();
    expect(y.data[0]).toBe(4);
    await ended;
  });

  it("leave the event loop free", async () => {
    const [x, y] = [newTensor(device, 1024, 1024), newTensor(device, 1024, 1024)];
    const matrix = newMatrix(device, 1024, 1024, "f32");
    const program = new Program(device);
    for (let i = 0; i < 4; i++) product(program, x, matrix, y, { precision: "f32" });
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await program.run();
    clearInterval(timer);
    expect(turns).toBeGreaterThan(2);
  });

  it("are refused where an operation is unknown or lacks arguments", async () => {
    for (const commands of [[-1], [1e9], [0, 1, 2], [Number.NaN]]) {
      const numbers = Float64Array.from(commands);
      expect(() => native.runNow(0, numbers, numbers.length, 1)).toThrow(/program/u);
      await expect((async () => native.run(0, numbers, numbers.length, 1))()).rejects.toThrow(
        /program/u,
      );
    }
    const y = tensorOf(device, [1]);
    const program = new Program(device);
    add(program, y, y);
    await program.run();
    expect(y.data[0]).toBe(2);
  });

  it("of several devices compute side by side", async () => {
    const others = [1, 2].map((threads) => new Device({ native, threads }));
    const sums = await Promise.all(
      others.map(async (other) => {
        const y = tensorOf(other, [1]);
        const addOther = adder(other);
        for (let i = 0; i < 20; i++) {
          const program = new Program(other);
          addOther(program, y, y);
          await program.run();
        }
        return y.data[0];
      }),
    );
    expect(sums).toEqual([2 ** 20, 2 ** 20]);
  });
});

it("run in worker threads, several at the same time", async () => {
  const url = JSON.stringify(new URL("./thread-program.ts", import.meta.url).href);
  const code = `import("tsx/esm/api").then(({ register }) => { register(); return import(${url}); })`;
  const results = ["addon", "addon", "wasm", "wasm"].map(
    (kind) =>
      new Promise((resolve, reject) => {
        const worker = new Worker(code, { eval: true, env: { AGENT_TRAINER_NATIVE: kind } });
        worker.once("message", resolve).once("error", reject);
      }),
  );
  expect(await Promise.all(results)).toEqual([512, 512, 512, 512]);
});
