/** Loads the runtime as the engine does: in this thread, or in the one of the local backend. */
import { fileURLToPath } from "node:url";
import { WorkerClient } from "../../../src/backends/local/worker-client.ts";
import { randomPolicyModel } from "../../../src/engine/model/policy-model.ts";
import { BatchSampler } from "../../../src/engine/sampling/batch-sampler.ts";
import { smallConfig } from "../small-model.ts";

if (process.argv[2] === "thread") {
  const client = new WorkerClient();
  await client.call("load", {
    path: fileURLToPath(new URL("../../../models/shop-tiny", import.meta.url)),
    name: "shop-tiny",
    lora: null,
    quantization: "none",
    probes: [],
    seed: 0,
    threads: 1,
    provider: "cpu",
    trainingMemoryMiB: 100,
    samplingPrecision: "float32",
    momentPrecision: "float32",
  });
  await client.call("close", null);
  await client.terminate();
} else {
  const policy = randomPolicyModel(smallConfig, { lora: null, seed: 0 });
  const sampler = await BatchSampler.create(policy, { threads: 1 });
  await sampler.close();
}
