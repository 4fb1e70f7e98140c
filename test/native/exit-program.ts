/** Exits with code 7 in the middle of a program that would take an hour: `main`, `worker` or `main-of-worker` exits. */
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { Device } from "../../src/engine/tensor/device.ts";
import { newMatrix, product } from "../../src/engine/tensor/matrix.ts";
import { Program } from "../../src/engine/tensor/program.ts";
import { newTensor } from "../../src/engine/tensor/tensor.ts";

const who = isMainThread ? process.argv[2] : (workerData as string);

function compute(): void {
  const device = new Device({ threads: 2 });
  const matrix = newMatrix(device, 1024, 4096, "f32");
  const [x, result] = [newTensor(device, 1024, 1024), newTensor(device, 1024, 4096)];
  const program = new Program(device);
  for (let i = 0; i < 50_000; i++) product(program, x, matrix, result, { precision: "f32" });
  void program.run();
}
const exitSoon = (): void => {
  setTimeout(() => process.exit(7), 300);
};

if (isMainThread && who !== "main") {
  const code = `import("tsx/esm/api").then(({ register }) => { register(); return import(${JSON.stringify(import.meta.url)}); })`;
  const worker = new Worker(code, { eval: true, workerData: who });
  // A worker that exits ends itself; its code is passed on.
  if (who === "worker") worker.once("exit", (status) => process.exit(status));
  else worker.once("message", exitSoon);
} else {
  compute();
  if (who === "main-of-worker") {
    const { parentPort } = await import("node:worker_threads");
    parentPort!.postMessage("computing");
  } else exitSoon();
}
