/** Options of on-policy distillation: a teacher grades every token that the policy samples. */
import { z } from "zod";
import { integer, fraction, nonEmptyString, type Section, atOnce } from "./kinds.ts";
import { free, needs, needsBackend, under } from "./option-meta.ts";

const isSelf = { option: "distillation.teacher", is: ["self"] };
const hasTeacher = { option: "distillation.teacher", not: null };

export const distillationOptions: Section<"distillation"> = z
  .strictObject({
    teacher: nonEmptyString()
      .nullable()
      .default(null)
      .describe(
        "Teacher of on-policy distillation (arXiv:2306.13649), with the policy's tokenizer: a model as in model.name, or the URL of a vLLM server. Each sampled token's advantage is log p(teacher) − log p(policy). self is the policy, which reads distillation.hint as well (arXiv:2601.18734, arXiv:2601.19897). null is off.",
      )
      .meta({ ...needsBackend("forward", ["self"]), exampleValues: ["builtin:shop-tiny", "self"] }),
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
        hint: nonEmptyString()
          .nullable()
          .default(null)
          .describe(
            "What the policy as its own teacher reads in addition to the prompt: a field of task.metadata, such as answer (dots lead into maps), which is appended to its last user message after the words: The answer is; or path#export of a function of task and episode that returns the text to append. A rollout without a hint teaches nothing. null is none.",
          )
          .meta({ ...needs(isSelf), exampleValues: ["answer"] }),
        divergence: z
          .enum(["reverse", "forward"])
          .default("reverse")
          .describe(
            "What falls with the teacher's advantages: reverse is KL(policy, teacher), forward KL(teacher, policy), which has a larger variance.",
          ),
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
