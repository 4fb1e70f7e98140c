/** Chooses what computes: the addon of this platform, or wasm where none loads or it computes wrong numbers. */
import { AgentTrainerError, ConfigError } from "../../core/errors.ts";
import { overlay } from "../../core/overlay.ts";
import { binaryName, findBinary } from "./binary-file.ts";
import type { Native, InstructionSet, NativeMemory } from "./native.ts";
import { selfTest } from "./self-test.ts";
import { loadWasm } from "./wasm/wasm-native.ts";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

interface Addon extends Pick<Native, "run" | "runNow"> {
  readonly instructionSets: readonly Omit<InstructionSet, "id">[];
  allocate(bytes: number): { readonly buffer: ArrayBuffer; readonly address: number } | null;
  release(buffer: ArrayBuffer): void;
}

/** @throws Error where this system cannot load it */
export function loadAddon(path: string): Native {
  const addon = require(path) as Addon;
  return {
    kind: "addon",
    instructionSets: addon.instructionSets.map((set, id) => ({ id, ...set })),
    allocate: (bytes): NativeMemory | null => {
      const memory = addon.allocate(bytes);
      return memory && { ...memory, byteOffset: 0, byteLength: bytes };
    },
    release: ({ buffer }) => {
      addon.release(buffer as ArrayBuffer);
    },
    run: addon.run,
    runNow: addon.runNow,
  };
}

let loaded: Native | undefined;

/** Loaded once for each thread of Node. @throws AgentTrainerError where not even wasm works */
export function loadNative(): Native {
  loaded ??= chooseNative(process.env["AGENT_TRAINER_NATIVE"]);
  return loaded;
}

/** Takes what is slower than it could be, and why. */
type Warn = (message: string) => void;

const emitWarning: Warn = (message) => {
  process.emitWarning(message);
};

/** @param wanted `addon` or `wasm`; @default the addon, or else wasm */
export function chooseNative(
  wanted: string | undefined,
  warn: Warn = emitWarning,
  load: (kind: Native["kind"], warn: Warn) => Native = loadTested,
): Native {
  if (wanted !== undefined && wanted !== "addon" && wanted !== "wasm")
    throw new ConfigError({
      message: `AGENT_TRAINER_NATIVE is "${wanted}"; it can be "addon" or "wasm".`,
      fields: { value: wanted },
    });
  if (wanted !== undefined) return load(wanted, warn);
  try {
    return load("addon", warn);
  } catch (error) {
    const why = (error as Error).message;
    const native = load("wasm", warn);
    warn(`The embedded engine runs as WebAssembly, on one processor and slower. ${why}`);
    return native;
  }
}

function loadTested(kind: Native["kind"], warn: Warn): Native {
  const binary = findBinary(kind);
  const name = binaryName(kind);
  if (binary === null) throw unusable(name, "there is no binary for it");
  let native: Native;
  try {
    native = kind === "wasm" ? loadWasm(binary.path) : loadAddon(binary.path);
  } catch (error) {
    throw unusable(name, `its binary does not load: ${(error as Error).message}`);
  }
  return withTestedSets(name, native, warn);
}

/** Without the instruction sets, the fastest first, that fail their test. */
export function withTestedSets(name: string, native: Native, warn: Warn = emitWarning): Native {
  const failures: string[] = [];
  for (const [index, set] of native.instructionSets.entries()) {
    const failure = selfTest(native, set);
    if (failure === null) {
      if (failures.length === 0) return native;
      warn(`The embedded engine uses ${set.name}, which is slower: ${failures.join("; ")}.`);
      return overlay(native, { instructionSets: native.instructionSets.slice(index) });
    }
    failures.push(`with ${set.name}, ${failure}`);
  }
  throw unusable(name, failures.join("; "));
}

const unusable = (name: string, why: string): AgentTrainerError =>
  new AgentTrainerError({
    code: "ENGINE_NOT_INSTALLED",
    message: `The kernels for ${name} cannot be used: ${why}.`,
    hint: "In a clone of the repository, npm run native -- --host compiles them.",
    fields: { platform: name },
  });
