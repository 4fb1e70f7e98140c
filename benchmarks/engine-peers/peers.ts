/** Programs that our engine is compared with, each in a process of its own, all opened on the same model. */
import { hasBf16 } from "../harness/cpu-features.ts";
import { forcedSet, kernels } from "../harness/kernel-goals.ts";
import { defaultThreads, type ModelCase } from "../engine/models.ts";
import type { LineProcess } from "../harness/line-process.ts";
import { startPython } from "./torch-environment.ts";
import type { SampleTurn, TrainTurn } from "./turn.ts";
import { startVllm } from "./vllm-environment.ts";

export interface OpenPeer {
  readonly name: string;
  readonly process: LineProcess;
}

export interface PeerKind {
  open(model: ModelCase, turn: TrainTurn | SampleTurn): Promise<OpenPeer>;
}

/** `bf16`: autocast in training, weights in sampling, as its users run it where the CPU can. */
export type PeerPrecision = "f32" | "bf16";

/** What a fair comparison takes on this machine. */
export function peerPrecisions(log: (line: string) => void): readonly PeerPrecision[] {
  if (forcedSet !== undefined && !kernels.hasBfloat16) return ["f32"];
  if (hasBf16()) return ["f32", "bf16"];
  log(
    "This CPU has no bf16 arithmetic, and bf16 is slower than f32 on it: compared with f32 only.",
  );
  return ["f32"];
}

export function pyTorch(precision: PeerPrecision): PeerKind {
  return {
    async open({ folder, loraRank }, turn) {
      const process = startPython(
        `PyTorch, ${precision}`,
        new URL("torch_peer.py", import.meta.url),
      );
      // Sampling is compared with the bare model: PEFT's adapters would slow the peer down.
      const rank = turn.do === "train" ? loraRank : null;
      const { torch, transformers } = await process.ask<{ torch: string; transformers: string }>({
        do: "open",
        folder,
        threads: defaultThreads(),
        rank,
        precision,
      });
      return { name: `PyTorch ${torch}, transformers ${transformers}, ${precision}`, process };
    },
  };
}

/** Its CPU build, for sampling; in bf16 where the CPU can. */
export function vllm(): PeerKind {
  const dtype = hasBf16() ? "bfloat16" : "float32";
  return {
    async open({ folder }, turn) {
      if (turn.do !== "sample") throw new Error("vLLM samples only.");
      const process = startVllm();
      const { vllm: version } = await process.ask<{ vllm: string }>({
        do: "open",
        folder,
        threads: defaultThreads(),
        dtype,
        maxTokens: turn.promptTokens + turn.newTokens + 1,
        maxSequences: turn.batch,
      });
      return { name: `vLLM ${version}, ${dtype}`, process };
    },
  };
}
