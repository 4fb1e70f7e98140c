/** Options of the backends that the trainer creates by name. */
import { z } from "zod";
import { precisionOptions } from "../../core/precision.ts";
import { integer, nonEmptyString, type Section, tokenCount, atOnce, mebibytes } from "./kinds.ts";
import { free, freeAndNeeds } from "./option-meta.ts";
import { oneOf } from "./variants.ts";
import { isTree, type Tree } from "../camel-keys.ts";

export const localOptions: Section<"local"> = z
  .strictObject({
    threads: integer(1, 1024)
      .nullable()
      .default(null)
      .describe("CPU threads within one operation; null is half of the CPUs, at least 2.")
      .meta(free),
    precision: z
      .enum(precisionOptions)
      .default("auto")
      .describe(
        "What matrix products are computed in, the same for sampling and training; auto is bf16 where the processor has instructions for it, else f32.",
      )
      .meta(free),
    training_memory_mib: mebibytes(64)
      .default(1536)
      .describe(
        "Memory in MiB for the activations of one training micro-batch; less memory makes training slower.",
      )
      .meta(free),
    cache_memory_mib: mebibytes(64)
      .nullable()
      .default(null)
      .describe(
        "Memory in MiB for the KV cache of running sequences and prompts; with less, more of them wait. null is a quarter of the machine's memory.",
      )
      .meta(free),
    moment_precision: z
      .enum(["float32", "bfloat16"])
      .default("float32")
      .describe(
        "Precision of AdamW's moments; bfloat16 takes half of the memory, with stochastic rounding.",
      ),
  })
  .prefault({})
  .describe(
    "Options of the backend local, where the trainer creates it: by name, with backend=local.",
  );

export const tinkerOptions: Section<"tinker"> = z
  .strictObject({
    tokenizer: nonEmptyString()
      .nullable()
      .default(null)
      .describe(
        "Tokenizer of the model: a folder or OWNER/NAME on a hub; null is model.name, or what the server reports.",
      )
      .meta(free),
    context_length: tokenCount(2)
      .nullable()
      .default(null)
      .describe(
        "Context length of the model: maximum tokens of prompt and completion together; null requests it from the server.",
      )
      .meta(free),
    checkpoint_ttl_s: integer(1)
      .nullable()
      .default(null)
      .describe("Time in seconds after which the server may delete a checkpoint; null is never.")
      .meta(free),
    snapshots: z
      .enum(["probe", "frozen", "live"])
      .default("probe")
      .describe(
        "Whether a snapshot of the server keeps its weights while training continues. probe checks that at the first weight sync and refuses a server whose snapshots follow the trained weights; frozen trusts the server; live trains on one whose snapshots do follow, synchronously only.",
      )
      .meta(free),
  })
  .prefault({})
  .describe(
    "Options of the backend tinker, where the trainer creates it: by name, with backend=tinker.",
  );

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
    trainer_replicas: atOnce(1)
      .default(1)
      .describe("Copies of a dedicated trainer, which share each update.")
      .meta(freeAndNeeds({ option: "fireworks.training_shape", not: null })),
    deployment_replicas: atOnce(1)
      .default(1)
      .describe("Copies of the model that sample for a dedicated trainer.")
      .meta(freeAndNeeds({ option: "fireworks.training_shape", not: null })),
    region: nonEmptyString()
      .nullable()
      .default(null)
      .describe("Region of a dedicated trainer and its deployment; null is the service's choice.")
      .meta(freeAndNeeds({ option: "fireworks.training_shape", not: null })),
    capacity_timeout_s: z
      .number()
      .gt(0)
      .default(172_800)
      .describe("Timeout in seconds for hardware of a dedicated trainer to be available.")
      .meta(freeAndNeeds({ option: "fireworks.training_shape", not: null })),
    ready_timeout_s: z
      .number()
      .gt(0)
      .default(3600)
      .describe(
        "Timeout in seconds for a dedicated trainer to start once it has hardware, and for its deployment.",
      )
      .meta(freeAndNeeds({ option: "fireworks.training_shape", not: null })),
    weight_sync_timeout_s: z
      .number()
      .gt(0)
      .default(600)
      .describe("Timeout in seconds for the deployment of a dedicated trainer to load new weights.")
      .meta(freeAndNeeds({ option: "fireworks.training_shape", not: null })),
    inactivity_timeout_s: integer(60)
      .max(10_800)
      .default(3600)
      .describe(
        "Time in seconds without a request after which Fireworks ends a dedicated trainer, as it does when this process is killed.",
      )
      .meta(freeAndNeeds({ option: "fireworks.training_shape", not: null })),
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

/** Maps that are empty in verl's configuration, so that Hydra takes a new key only with `++` before it. */
const openMap = /\.(?:engine_kwargs\.[a-z]+|override_[a-z_]*config)\./u;

/** `{a: {b: 1}}` → `["a.b=1"]`, as Hydra takes it. Keys are not ours, so their case must stay. */
function hydraOverrides(tree: Tree, path = ""): string[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const name = path === "" ? key : `${path}.${key}`;
    if (isTree(value)) return hydraOverrides(value, name);
    const sign = openMap.test(name) ? "++" : "";
    return [`${sign}${name}=${typeof value === "string" ? value : JSON.stringify(value)}`];
  });
}

const verlConfig = () =>
  z
    .union([
      z.array(nonEmptyString()),
      z.record(z.string(), z.unknown()).transform((tree) => hydraOverrides(tree)),
    ])
    .prefault([])
    .meta({
      allowed: "a tree of verl's options, or a list of key=value",
      tsType: "readonly string[]",
    })
    .describe(
      "Options that are passed on to verl unchanged: a tree under verl.config, as verl.config.actor_rollout_ref..., or a list of Hydra overrides, key=value.",
    );

const remote = {
  url: nonEmptyString()
    .nullable()
    .default(null)
    .describe(
      "URL of the bridge for attach (its token is read from AGENT_TRAINER_BRIDGE_TOKEN), or of Ray's dashboard for job, where null is http://127.0.0.1:8265.",
    ),
};

const apart = {
  gpus_per_node: atOnce(1)
    .nullable()
    .default(null)
    .describe("GPUs that sample, on each machine that does; null is verl.gpus_per_node.")
    .meta(free),
  nodes: atOnce(1).default(1).describe("Machines that sample, or parts of machines.").meta(free),
};

export const verlOptions: Section<"verl"> = z
  .strictObject({
    python: nonEmptyString()
      .nullable()
      .default(null)
      .describe(
        "Python interpreter that has verl installed; null is the one that `agent-trainer verl setup` made, else python3.",
      )
      .meta(free),
    launcher: oneOf({ process: {}, job: remote, attach: remote }, "process", {
      description:
        "How the bridge to verl starts: process is a child process, job a Ray job, attach connects to one that already runs.",
      ...free,
    }),
    ray_address: nonEmptyString()
      .nullable()
      .default(null)
      .describe(
        "Address of Ray's head node, as HOST:6379; null is RAY_ADDRESS, else a new local Ray instance.",
      )
      .meta(free),
    gpus_per_node: atOnce(1).default(8).describe("GPUs of each machine that trains with verl."),
    nodes: atOnce(1).default(1).describe("Machines that train with verl."),
    placement: oneOf({ colocated: {}, disaggregated: apart }, "colocated", {
      description:
        "Placement of verl's inference servers: colocated shares the GPUs with training, and servers sleep during updates; disaggregated gives them separate GPUs.",
    }),
    inference: nonEmptyString()
      .default("vllm")
      .describe("Inference server of verl: vllm, sglang, or another that verl supports."),
    tensor_parallel: atOnce(1)
      .default(1)
      .describe(
        "Tensor parallelism of verl's inference servers: GPUs that share one copy of the model.",
      )
      .meta(free),
    setup_hook: nonEmptyString()
      .nullable()
      .default(null)
      .describe(
        "Python hook, module.function, that every process calls before it uses verl; null is none.",
      )
      .meta(free),
    start_timeout_s: z
      .number()
      .gt(0)
      .max(86_400)
      .default(1800)
      .describe("Timeout in seconds for verl to load models and start inference servers.")
      .meta(free),
    timeout_s: z
      .number()
      .gt(0)
      .max(86_400)
      .default(3600)
      .describe("Timeout in seconds for one update, weight sync or checkpoint of verl.")
      .meta(free),
    config: verlConfig(),
  })
  .prefault({})
  .describe(
    "Options of the backend verl, where the trainer creates it: by name, with backend=verl.",
  );
