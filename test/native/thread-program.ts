/** A program in a worker thread: 512 products with 1, added up; sends the sum. */
import { parentPort } from "node:worker_threads";
import { Device } from "../../src/engine/tensor/device.ts";
import { newMatrix, pack, product } from "../../src/engine/tensor/matrix.ts";
import { Program } from "../../src/engine/tensor/program.ts";
import { newTensor, tensorOf, type Tensor } from "../../src/engine/tensor/tensor.ts";

const device = new Device({ threads: 2 });
const [one, sum] = [newMatrix(device, 2, 1, "f32"), newTensor(device, 1, 1)];
const program = new Program(device);
const row: Tensor = tensorOf(device, [1, 0]);
pack(program, row, one);
for (let i = 0; i < 512; i++)
  product(program, tensorOf(device, [1]), one, sum, {
    precision: "f32",
    accumulate: true,
  });
await program.run();
parentPort!.postMessage(sum.data[0]);
