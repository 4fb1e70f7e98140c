/** The teacher that the options name: a model on a backend, or an inference server. */
import type { PullProgress } from "../../backends/local/index.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { ConfigError } from "../../core/errors.ts";
import type { Teacher } from "../../core/teacher.ts";
import { createModelTeacher } from "./model-teacher.ts";
import { createServerTeacher } from "./server-teacher.ts";

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
