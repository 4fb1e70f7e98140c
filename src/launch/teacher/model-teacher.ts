/** A model on a backend as a teacher: it is loaded, never trained. */
import type { PullProgress } from "../../backends/local/index.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { InferenceTarget, TrainingBackend } from "../../core/backend.ts";
import { backendsThat } from "../../core/capabilities.ts";
import { ConfigError, UnsupportedOptionError } from "../../core/errors.ts";
import type { Renderer } from "../../core/policy.ts";
import type { Teacher } from "../../core/teacher.ts";
import { createBackend } from "../create-backend.ts";

/** Letters, digits, spaces and scripts that vocabularies cut differently. */
const probe =
  'The price of 12 lamps, at 3.50 each: {"total": 42.00}\n\nfunction f(x) { return x ** 2; } 東京 naïve 🙂';

/** @throws ConfigError when the two encode a text differently. */
function checkTokenizer(student: Renderer | null, target: InferenceTarget, name: string): void {
  const own = student?.encode?.(probe);
  const given = target.renderer?.encode?.(probe);
  if (own === undefined || given === undefined || own.join() === given.join()) return;
  throw new ConfigError({
    message: `The teacher ${name} has another tokenizer than the policy, so it cannot grade the policy's tokens.`,
    hint: "Use a teacher of the same family: a larger model with the same tokenizer.json.",
    fields: { teacher: name },
  });
}

export function createModelTeacher(
  config: TrainConfig,
  name: string,
  folder: string,
  onPull?: (progress: PullProgress) => void,
): Teacher {
  let backend: TrainingBackend | undefined;
  return {
    name,
    async start(student, signal) {
      const options = { ...config, backend: config.distillation.backend };
      backend = await createBackend(options, folder, onPull === undefined ? {} : { onPull });
      if (!backend.capabilities.forward || !backend.capabilities.lora) {
        const supporting = backendsThat(({ forward, lora }) => forward && lora);
        const { name: kind } = backend;
        throw new UnsupportedOptionError("distillation.teacher", name, kind, supporting);
      }
      // An adapter that is never trained changes nothing, and leaves the weights frozen on disk.
      const { loraAlpha = null } = backend.capabilities;
      const lora = { rank: 1, alpha: loraAlpha ?? 1 };
      const target = await backend.start({ seed: 0, model: { name, lora }, signal });
      checkTokenizer(student, target, name);
    },
    async logprobs(rows, signal) {
      if (backend?.forward === undefined) throw new Error("The teacher has not been started.");
      // Adapters of the policy are not the teacher's.
      const own = rows.map((row) => {
        const { adapter: _, ...rest } = row;
        return rest;
      });
      return await backend.forward(own, "current", signal);
    },
    async [Symbol.asyncDispose]() {
      await backend?.[Symbol.asyncDispose]();
    },
  };
}
