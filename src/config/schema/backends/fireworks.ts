/** Options of Fireworks as a backend, serverless or on a dedicated trainer. */
import { z } from "zod";
import { atOnce, integer, nonEmptyString, type Section, tokenCount } from "../kinds.ts";
import { free, under } from "../option-meta.ts";

export const fireworksOptions: Section<"fireworks"> = z
  .strictObject({
    base_url: nonEmptyString()
      .nullable()
      .default(null)
      .describe(
        "Root URL of the Fireworks API; null is FIREWORKS_BASE_URL, else the hosted service. The key is read from FIREWORKS_API_KEY.",
      )
      .meta(free),
    account: nonEmptyString()
      .nullable()
      .default(null)
      .describe("Fireworks account that pays for the run; null is the only one of the key.")
      .meta(free),
    tokenizer: nonEmptyString()
      .nullable()
      .default(null)
      .describe(
        "Tokenizer of the model: a folder or OWNER/NAME on a hub. Fireworks does not report it; null is model.name.",
      )
      .meta(free),
    context_length: tokenCount(2)
      .nullable()
      .default(null)
      .describe(
        "Context length of the model: maximum tokens of prompt and completion together. Serverless training does not report it, so it must be set there; null is that of fireworks.training_shape.",
      )
      .meta(free),
    train_attn: z.boolean().default(true).describe("Whether the adapter covers the attention."),
    train_mlp: z.boolean().default(true).describe("Whether the adapter covers the MLP."),
    train_unembed: z
      .boolean()
      .default(true)
      .describe("Whether the adapter covers the output head."),
    output_model: z
      .string()
      .regex(/^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/u)
      .nullable()
      .default(null)
      .describe(
        "Name of a new model of the account that the last checkpoint becomes at the end of the run; null is none. Everything else is deleted with the training session.",
      )
      .meta({
        ...free,
        allowed: "null, or at most 63 lower-case letters, digits and hyphens",
        exampleValues: ["shop-agent"],
      }),
    training_shape: nonEmptyString()
      .nullable()
      .default(null)
      .describe(
        "Training shape of a dedicated trainer, accounts/fireworks/trainingShapes/NAME: a trainer and a deployment are created for the run and deleted at its end. null is serverless training.",
      )
      .meta(free),
    ...under(
      {
        trainer_replicas: atOnce(1)
          .default(1)
          .describe("Copies of a dedicated trainer, which share each update.")
          .meta(free),
        deployment_replicas: atOnce(1)
          .default(1)
          .describe("Copies of the model that sample for a dedicated trainer.")
          .meta(free),
        region: nonEmptyString()
          .nullable()
          .default(null)
          .describe(
            "Region of a dedicated trainer and its deployment; null is the service's choice.",
          )
          .meta(free),
        capacity_timeout_s: z
          .number()
          .gt(0)
          .default(172_800)
          .describe("Timeout in seconds for hardware of a dedicated trainer to be available.")
          .meta(free),
        ready_timeout_s: z
          .number()
          .gt(0)
          .default(3600)
          .describe(
            "Timeout in seconds for a dedicated trainer to start once it has hardware, and for its deployment.",
          )
          .meta(free),
        weight_sync_timeout_s: z
          .number()
          .gt(0)
          .default(600)
          .describe(
            "Timeout in seconds for the deployment of a dedicated trainer to load new weights.",
          )
          .meta(free),
        inactivity_timeout_s: integer(60)
          .max(10_800)
          .default(3600)
          .describe(
            "Time in seconds without a request after which Fireworks ends a dedicated trainer, as it does when this process is killed.",
          )
          .meta(free),
      },
      { option: "fireworks.training_shape", not: null },
    ),
    max_concurrent_samples: atOnce(1)
      .default(64)
      .describe("Maximum number of samples requested from Fireworks at the same time.")
      .meta(free),
    timeout_s: z
      .number()
      .gt(0)
      .max(86_400)
      .default(3600)
      .describe("Timeout in seconds for the result of one training request.")
      .meta(free),
    patience_s: z
      .number()
      .gt(0)
      .max(86_400)
      .default(3600)
      .describe(
        "Time in seconds for which a request is repeated while Fireworks cannot be reached or is overloaded.",
      )
      .meta(free),
  })
  .prefault({})
  .describe(
    "Options of the backend fireworks, where the trainer creates it: by name, with backend=fireworks.",
  );
