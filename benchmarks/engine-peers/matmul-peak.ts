/** How fast the kernels multiply matrices in this process, at this moment: what training is measured against. */
import { choosePrecision } from "../../src/engine/decoder/choose-precision.ts";
import { Device } from "../../src/engine/tensor/device.ts";
import { newMatrix, pack, product } from "../../src/engine/tensor/matrix.ts";
import { Program } from "../../src/engine/tensor/program.ts";
import { newTensor } from "../../src/engine/tensor/tensor.ts";
import { defaultThreads } from "../engine/models.ts";

/** Shapes of the largest products of a SmolLM2-135M layer, there and back, 1024 rows. */
const rows = 1024;
const narrow = 576;
const wide = 1536;
const rounds = 20;

/** Billions of floating-point operations per second: the best of four runs. */
export async function matmulPeak(): Promise<{ gflops: number }> {
  const device = new Device({ threads: defaultThreads() });
  const precision = choosePrecision("auto", device);
  const program = new Program(device);
  // Numbers stay as they are, neither growing nor becoming denormal: weights are averages.
  const weight = (outputs: number, inputs: number) => {
    const matrix = newMatrix(device, inputs, outputs, precision);
    const values = newTensor(device, outputs, inputs);
    values.data.fill(1 / inputs);
    pack(program, values, matrix);
    return matrix;
  };
  const [up, down] = [weight(wide, narrow), weight(narrow, wide)];
  const [x, y] = [newTensor(device, rows, narrow), newTensor(device, rows, wide)];
  x.data.fill(0.5);
  let best = Infinity;
  for (let i = 0; i < 4; i++) {
    for (let round = 0; round < rounds; round++) {
      product(program, x, up, y, { precision });
      product(program, y, down, x, { precision });
    }
    const start = performance.now();
    await program.run();
    best = Math.min(best, performance.now() - start);
  }
  return { gflops: (2 * rows * narrow * wide * 2 * rounds) / best / 1e6 };
}
