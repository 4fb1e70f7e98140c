/** Options of on-policy distillation: a teacher grades every token that the policy samples. */
import { z } from "zod";
import { integer, fraction, nonEmptyString, type Section, atOnce } from "./kinds.ts";
import { free, under } from "./option-meta.ts";

const hasTeacher = { option: "distillation.teacher", not: null };

export const distillationOptions: Section<"distillation"> = z
  .strictObject({
    teacher: nonEmptyString()
      .nullable()
      .default(null)
      .describe(
        "Teacher of on-policy distillation, which must have the policy's tokenizer: a model as in model.name, or the URL of a vLLM server, which returns prompt_logprobs. Each sampled token's advantage is log p(teacher) − log p(policy), the negative reverse KL (arXiv:2306.13649). null is off.",
      ),
    ...under(
      {
        backend: nonEmptyString()
          .default("local")
          .describe("Backend that runs a teacher that is not a URL, as in backend.")
          .meta(free),
        teacher_model: nonEmptyString()
          .nullable()
          .default(null)
          .describe("The teacher as its server names it; null is what the server lists first."),
        coef: z.number().gt(0).default(1).describe("Factor on the advantages from the teacher."),
        discount: fraction()
          .default(0)
          .describe(
            "Discount of the later tokens' advantages that are added to each token's, within a response; 0 is none.",
          ),
        clip: z
          .number()
          .gt(0)
          .nullable()
          .default(null)
          .describe(
            "Limit of the teacher's advantage of a token, in both directions; null is none.",
          ),
        use_reward: z
          .boolean()
          .default(false)
          .describe(
            "Add the teacher's advantages to those of algorithm.estimator; false replaces them.",
          ),
        timeout_s: integer(1, 2_147_483)
          .default(120)
          .describe("Seconds that a teacher's server may take for one sequence.")
          .meta(free),
        concurrency: atOnce(1)
          .default(8)
          .describe("Sequences that are sent to a teacher's server at the same time.")
          .meta(free),
      },
      hasTeacher,
    ),
  })
  .prefault({});
