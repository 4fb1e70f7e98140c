/**
 * The only file that knows onnxruntime. The package is an optional peer: it is loaded on first use,
 * and the error for its absence names the command that installs it.
 */
import type * as Ort from "onnxruntime-node";
import { AgentTrainerError } from "../core/errors.ts";
import { isProcessor } from "./provider.ts";
import { turnTelemetryOff } from "./telemetry.ts";

/** A dense array with its shape; the data is used in place, not copied. */
export interface Tensor {
  readonly data: Float32Array | Float64Array | BigInt64Array;
  readonly shape: readonly number[];
}

export interface SessionOptions {
  /** Threads inside one operation. */
  readonly threads: number;
  /** Folder of files that the model's external tensors point into. */
  readonly externalFolder?: string;
  /** Copy constant matrices into the layout of the multiplication kernel: faster for few rows, more memory. @default true */
  readonly prepack?: boolean;
  /** Execution provider. @default "cpu" */
  readonly provider?: string;
  /** Run operations that the provider lacks on the CPU; otherwise they are refused. @default false */
  readonly cpuFallback?: boolean;
}

/** A loaded graph. */
export interface Session {
  /** @param outputs Outputs to copy out of the runtime. @default all */
  run(
    inputs: Readonly<Record<string, Tensor>>,
    outputs?: readonly string[],
  ): Promise<Readonly<Record<string, Float32Array>>>;
  close(): Promise<void>;
}

let loading: Promise<typeof Ort> | undefined;

function loadRuntime(): Promise<typeof Ort> {
  turnTelemetryOff();
  loading ??= import("onnxruntime-node").then(
    (module) => module,
    (cause: unknown) => {
      loading = undefined;
      throw new AgentTrainerError({
        code: "ENGINE_NOT_INSTALLED",
        message: "The embedded engine needs onnxruntime-node, which could not be loaded.",
        hint: "Run: npm install --ignore-scripts onnxruntime-node",
        cause,
      });
    },
  );
  return loading;
}

/** Version of the runtime, for run records. */
export async function runtimeVersion(): Promise<string> {
  const ort = await loadRuntime();
  return ort.env.versions.node ?? "unknown";
}

export interface ExecutionProvider {
  readonly name: string;
  /** Included in the package; others need a download or system libraries. */
  readonly bundled: boolean;
}

/** Providers of the installed runtime build; whether one works shows only in a run. */
export async function listProviders(): Promise<readonly ExecutionProvider[]> {
  const ort = await loadRuntime();
  const installed = ort.listSupportedBackends();
  const hasBf16Kernels = process.platform === "linux" && process.arch === "arm64";
  return hasBf16Kernels ? [...installed, { name: "cpu-bf16", bundled: true }] : installed;
}

/** By array: hundreds of weights are fed again at every run. */
const wrappers = new WeakMap<Tensor["data"], Ort.Tensor>();

function wrapped(ort: typeof Ort, { data, shape }: Tensor): Ort.Tensor {
  const known = wrappers.get(data);
  if (known !== undefined && known.dims.length === shape.length) {
    if (shape.every((size, axis) => size === known.dims[axis])) return known;
  }
  const tensor =
    data instanceof Float32Array
      ? new ort.Tensor("float32", data, shape)
      : data instanceof Float64Array
        ? new ort.Tensor("float64", data, shape)
        : new ort.Tensor("int64", data, shape);
  wrappers.set(data, tensor);
  return tensor;
}

export async function createSession(model: Uint8Array, options: SessionOptions): Promise<Session> {
  const ort = await loadRuntime();
  const config: Record<string, string> = {};
  if (options.externalFolder !== undefined) {
    config["model_external_initializers_file_folder_path"] = options.externalFolder;
  }
  if (options.prepack === false) config["disable_prepacking"] = "1";
  const { provider = "cpu", cpuFallback = false } = options;
  if (!isProcessor(provider) && !cpuFallback) config["disable_cpu_ep_fallback"] = "1";
  const kernels = provider === "cpu-bf16" ? { enable_gemm_fastmath_arm64_bfloat16: "1" } : {};
  const session = await ort.InferenceSession.create(model, {
    executionProviders: [isProcessor(provider) ? "cpu" : provider],
    intraOpNumThreads: options.threads,
    interOpNumThreads: 1,
    executionMode: "sequential",
    // Shapes change from run to run, and each would permanently get a planned block in addition to the arena.
    enableMemPattern: false,
    graphOptimizationLevel: "all",
    logSeverityLevel: 3,
    extra: { session: config, mlas: kernels },
  });
  return {
    async run(inputs, outputs = session.outputNames) {
      const feeds: Record<string, Ort.Tensor> = {};
      for (const [name, input] of Object.entries(inputs)) feeds[name] = wrapped(ort, input);
      const results = await session.run(feeds, outputs);
      return Object.fromEntries(outputs.map((name) => [name, results[name]!.data as Float32Array]));
    },
    close: () => session.release(),
  };
}
