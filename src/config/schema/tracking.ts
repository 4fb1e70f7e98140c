/** Options of trackers: where a run's numbers and events go besides its folder. */
import { z } from "zod";
import { integer, nonEmptyString, type Section } from "./kinds.ts";
import { free, under } from "./option-meta.ts";

const trackerNames = ["tensorboard", "wandb", "mlflow", "prometheus", "opentelemetry"] as const;

const used = <S extends Readonly<Record<string, z.ZodType>>>(
  name: (typeof trackerNames)[number],
  options: S,
): S => under(options, { option: "tracking.trackers", includes: name });

export const trackingOptions: Section<"tracking"> = z
  .strictObject({
    trackers: z
      .array(z.enum(trackerNames))
      .refine((names) => new Set(names).size === names.length, "names a tracker twice")
      .default([])
      .describe(
        "Trackers that receive the run's metrics, any number at once; a run always shows progress and writes metrics.jsonl. One that fails or hangs is dropped with a warning.",
      )
      .meta({
        ...free,
        allowed: `a list of ${trackerNames.join(", ")}, each at most once`,
        exampleValues: [["tensorboard"]],
      }),
    project: nonEmptyString()
      .default("agent-trainer")
      .describe("Name that groups runs: a project of W&B, an experiment of MLflow.")
      .meta(free),
    timeout_s: z
      .number()
      .positive()
      .max(3600)
      .default(30)
      .describe(
        "Maximum seconds that a tracker may take for one event, and for closing when the run ends.",
      )
      .meta(free),
    wandb: z
      .strictObject(
        used("wandb", {
          mode: z
            .enum(["offline", "online"])
            .default("offline")
            .describe(
              "How W&B gets the run: offline writes its log into the run folder, for wandb sync; online uploads that while the run goes, with the installed command wandb.",
            )
            .meta(free),
          entity: nonEmptyString()
            .nullable()
            .default(null)
            .describe("W&B team or user of the run; null is the account's default.")
            .meta({ ...free, exampleValues: ["my-team"] }),
        }),
      )
      .prefault({}),
    mlflow: z
      .strictObject(
        used("mlflow", {
          url: z
            .url({ protocol: /^https?$/u })
            .default("http://127.0.0.1:5000")
            .describe(
              "MLflow tracking server. A token is read from MLFLOW_TRACKING_TOKEN, or a user and password from MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD.",
            )
            .meta({ ...free, exampleValues: ["http://127.0.0.1:5001"] }),
        }),
      )
      .prefault({}),
    prometheus: z
      .strictObject(
        used("prometheus", {
          host: nonEmptyString()
            .default("127.0.0.1")
            .describe("Address at which /metrics listens.")
            .meta(free),
          port: integer(0)
            .max(65_535)
            .default(9464)
            .describe("Port at which /metrics listens; 0 takes any free one.")
            .meta(free),
        }),
      )
      .prefault({}),
    opentelemetry: z
      .strictObject(
        used("opentelemetry", {
          endpoint: z
            .url({ protocol: /^https?$/u })
            .nullable()
            .default(null)
            .describe(
              "URL that spans are posted to as OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces; null takes the environment's OTEL_EXPORTER_OTLP_ENDPOINT.",
            )
            .meta({ ...free, exampleValues: ["http://127.0.0.1:4318/v1/traces"] }),
          content: z
            .boolean()
            .default(false)
            .describe("Whether spans hold messages and tool arguments, which may be private.")
            .meta(free),
        }),
      )
      .prefault({}),
  })
  .prefault({});
