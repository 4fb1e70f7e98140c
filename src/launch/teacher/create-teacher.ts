/** The teacher that the options name: a model on a backend, or an inference server. */
import type { PullProgress } from "../../backends/local/index.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { ConfigError, UnsupportedOptionError } from "../../core/errors.ts";
import type { Teacher } from "../../core/teacher.ts";
import { createServerTeacher } from "./server-teacher.ts";
import type { InferenceTarget, TrainingBackend } from "../../core/backend.ts";
import { backendsThat } from "../../core/capabilities.ts";
import type { Renderer } from "../../core/policy.ts";
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

/** A model on a backend as a teacher: it is loaded, never trained. */
function createModelTeacher(
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

/** Environment variable with the key of a teacher's server. */
const teacherKeyVariable = "AGENT_TRAINER_TEACHER_KEY";

/** null where `distillation.teacher` names none, or the policy. @throws ConfigError for options that cannot be combined. */
export function createTeacher(
  config: TrainConfig,
  folder: string,
  onPull?: (progress: PullProgress) => void,
): Teacher | null {
  const { teacher, teacherModel, timeoutS, concurrency } = config.distillation;
  if (teacher === null || teacher === "self") return null;
  if (!/^https?:\/\//iu.test(teacher)) {
    if (teacherModel === null) return createModelTeacher(config, teacher, folder, onPull);
    throw new ConfigError({
      message: `distillation.teacher_model is for a teacher on a server, but distillation.teacher=${teacher} is not a URL.`,
      hint: "Remove distillation.teacher_model.",
      fields: { teacher, teacherModel },
    });
  }
  const { temperature } = config.rollout.train;
  if (temperature !== 1 && config.algorithm.logprobTemperature === "sampling") {
    throw new ConfigError({
      message: `A teacher on a server gives log-probabilities at temperature 1, but rollout.train.temperature is ${temperature}.`,
      hint: "Set rollout.train.temperature=1 or algorithm.logprob_temperature=one, or use a model folder as teacher.",
      fields: { teacher, temperature },
    });
  }
  const apiKey = process.env[teacherKeyVariable];
  return createServerTeacher({
    url: teacher,
    model: teacherModel,
    timeoutMs: timeoutS * 1000,
    concurrency,
    ...(apiKey === undefined || apiKey === "" ? {} : { apiKey }),
  });
}
