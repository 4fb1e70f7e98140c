import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { requireProvider } from "./require-provider.ts";
import * as runtime from "./runtime.ts";

/** Stands for a device: computes on the processor, and afterwards changes one output. */
const device = { wrongOutput: null as string | null, hangs: false };
const { createSession, listProviders } = runtime;

beforeEach(() => {
  Object.assign(device, { wrongOutput: null, hangs: false });
  vi.spyOn(runtime, "listProviders").mockImplementation(async () => [
    ...(await listProviders()),
    { name: "dml", bundled: true },
  ]);
  vi.spyOn(runtime, "createSession").mockImplementation(async (model, options) => {
    const { provider = "cpu", ...others } = options;
    const session = await createSession(model, others);
    if (provider === "cpu") return session;
    return {
      close: () => session.close(),
      async run(...request) {
        if (device.hangs) return new Promise<never>(() => undefined);
        const outputs = { ...(await session.run(...request)) };
        for (const [name, numbers] of Object.entries(outputs))
          if (name === device.wrongOutput) outputs[name] = numbers.map((x) => 1.1 * x);
        return outputs;
      },
    };
  });
});
afterEach(() => vi.restoreAllMocks());

it("accepts a device that computes what the processor computes", async () => {
  await expect(requireProvider("dml")).resolves.toBeUndefined();
});

it.each([
  "product",
  "probabilities",
  "logprobs",
  "gradient:model.layers.0.input_layernorm.weight",
  "gradient:model.embed_tokens.weight",
  "gradient:base_model.model.model.layers.1.mlp.down_proj.lora_A.weight",
])("refuses one whose %s is wrong", async (output) => {
  device.wrongOutput = output;
  const refusal = await requireProvider("dml").catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: "CONFIG_INVALID", fields: { option: "local.provider" } });
  expect((refusal as Error).message).toContain(output === "product" ? "is right" : output);
});

it("refuses one that does not answer", async () => {
  device.hangs = true;
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  vi.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout(50));
  await expect(requireProvider("dml")).rejects.toThrow(/does not work on this machine: .*timeout/u);
});

describe("cpu-bf16", () => {
  it("is refused where the runtime has no kernels for it", async () => {
    vi.spyOn(runtime, "listProviders").mockResolvedValue([{ name: "cpu", bundled: true }]);
    await expect(requireProvider("cpu-bf16")).rejects.toThrow(
      `needs an ARM64 processor and Linux; this machine is ${process.platform} ${process.arch}`,
    );
  });

  it("is refused where products stay as exact as they were", async () => {
    vi.spyOn(runtime, "listProviders").mockResolvedValue([{ name: "cpu-bf16", bundled: true }]);
    await expect(requireProvider("cpu-bf16")).rejects.toThrow(
      "the processor has no bf16 instructions, so that products stay in 32-bit floats",
    );
  });
});
