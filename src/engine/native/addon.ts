/** The kernels as an addon of Node (native/addon/addon.c). */
import { createRequire } from "node:module";
import type { InstructionSet, Native, NativeMemory } from "./native.ts";

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
