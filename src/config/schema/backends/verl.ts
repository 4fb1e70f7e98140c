/** Options of verl on a Ray cluster as a backend. */
import { z } from "zod";
import { isTree, type Tree } from "../../camel-keys.ts";
import { atOnce, nonEmptyString, type Section } from "../kinds.ts";
import { free } from "../option-meta.ts";
import { oneOf } from "../variants.ts";

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
