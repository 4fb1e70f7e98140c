/** What the embedded engine computes with on this machine, for `agent-trainer doctor`. */
import { AgentTrainerError } from "../../core/errors.ts";
import { findBinary } from "../../engine/native/binary-file.ts";
import { chooseNative } from "../../engine/native/load-native.ts";
import { selfTest } from "../../engine/native/self-test.ts";
import { Device } from "../../engine/tensor/device.ts";

export interface EngineReport {
  readonly kind: "addon" | "wasm";
  /** What the binary was compiled for, such as linux-x64-gnu. */
  readonly binary: string;
  readonly path: string;
  /** Compiled on this machine; else it is one of the package. */
  readonly isBuiltHere: boolean;
  readonly instructionSet: string;
  /** Those that the binary and this processor have, the fastest first. */
  readonly instructionSets: readonly string[];
  /** Whether the processor has instructions for products in bf16; else they are emulated. */
  readonly hasBfloat16: boolean;
  readonly passesSelfTest: boolean;
}

/** @returns null where nothing can compute; adds a sentence to `problems` for all that is slower than it could be */
export function inspectEngine(problems: string[]): EngineReport | null {
  try {
    const native = chooseNative(process.env["AGENT_TRAINER_NATIVE"], (slower) =>
      problems.push(slower),
    );
    const { instructionSet, hasBfloat16 } = new Device({ native, threads: 1 });
    // Loading tested the fastest; this one may have been asked for.
    const failure = selfTest(native, instructionSet);
    if (failure !== null) problems.push(`With ${instructionSet.name}, ${failure}.`);
    const { name, path, isBuiltHere } = findBinary(native.kind)!;
    return {
      kind: native.kind,
      binary: name,
      path,
      isBuiltHere,
      instructionSet: instructionSet.name,
      instructionSets: native.instructionSets.map((set) => set.name),
      hasBfloat16,
      passesSelfTest: failure === null,
    };
  } catch (error) {
    if (!AgentTrainerError.isInstance(error)) throw error;
    problems.push([error.message, error.hint ?? ""].join(" ").trim());
    return null;
  }
}

export function formatEngine(
  report: EngineReport,
  row: (name: string, value: string) => string,
): readonly string[] {
  const { binary, instructionSet, instructionSets } = report;
  const others = instructionSets.filter((name) => name !== instructionSet);
  const origin = report.isBuiltHere ? "built here" : "prebuilt";
  const test = report.passesSelfTest ? "self-test passed" : "self-test failed";
  const also = others.length === 0 ? "" : `, also has ${others.join(", ")}`;
  return [
    row("kernels", `${binary} (${origin}), ${test}`),
    row("instructions", `${instructionSet}${also}`),
    row("bf16", report.hasBfloat16 ? "native" : "emulated, so local.precision=auto is f32"),
  ];
}
