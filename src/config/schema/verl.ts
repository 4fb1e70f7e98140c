/** Options of the verl backend. */
import { z } from "zod";
import { isTree, type Tree } from "../camel-keys.ts";
import { count, words } from "./kinds.ts";
import type { Section } from "./section.ts";
import { free, freeAndNeeds } from "./option-meta.ts";

/** `{a: {b: 1}}` → `["a.b=1"]`, as Hydra takes it. Keys are not ours, so their case must stay. */
function hydraOverrides(tree: Tree, path = ""): string[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const name = path === "" ? key : `${path}.${key}`;
    if (isTree(value)) return hydraOverrides(value, name);
    return [`${name}=${typeof value === "string" ? value : JSON.stringify(value)}`];
  });
}

const verlConfig = () =>
  z
    .union([
      z.array(words()),
      z.record(z.string(), z.unknown()).transform((tree) => hydraOverrides(tree)),
    ])
    .prefault([])
    .meta({
      allowed: "a tree of verl's options, or a list of key=value",
      tsType: "readonly string[]",
    })
    .describe("Options of verl's own, as verl.config.actor_rollout_ref... or in Hydra's form.");

export const verlOptions: Section<"verl"> = z
  .strictObject({
    python: words()
      .nullable()
      .default(null)
      .describe("Python with verl; null is what `agent-trainer verl setup` made, else python3.")
      .meta(free),
    launcher: z
      .enum(["process", "job", "attach"])
      .default("process")
      .describe("The bridge as a child process, as a Ray job, or one that runs already.")
      .meta(free),
    engine: z
      .enum(["verl", "fake"])
      .default("verl")
      .describe("What trains; fake is a toy policy without packages, to try a set-up."),
    url: words()
      .nullable()
      .default(null)
      .describe(
        "The bridge to attach to, whose token is in AGENT_TRAINER_BRIDGE_TOKEN, or Ray's dashboard for a job; null is http://127.0.0.1:8265.",
      )
      .meta(freeAndNeeds({ option: "verl.launcher", is: ["job", "attach"] })),
    ray_address: words()
      .nullable()
      .default(null)
      .describe("Ray's head as HOST:6379; null is RAY_ADDRESS, else a Ray of its own.")
      .meta(free),
    gpus_per_node: count(1).default(8).describe("GPUs of each machine."),
    nodes: count(1).default(1).describe("Machines."),
    placement: z
      .enum(["colocated", "disaggregated"])
      .default("colocated")
      .describe(
        "Whether servers share the GPUs with training and sleep during updates, or have GPUs of their own.",
      ),
    inference_gpus_per_node: count(1)
      .nullable()
      .default(null)
      .describe(
        "Disaggregated: GPUs that sample, on each machine that does; null is gpus_per_node.",
      )
      .meta(freeAndNeeds({ option: "verl.placement", is: ["disaggregated"] })),
    inference_nodes: count(1)
      .default(1)
      .describe("Disaggregated: machines that sample, or parts of machines.")
      .meta(freeAndNeeds({ option: "verl.placement", is: ["disaggregated"] })),
    inference: words()
      .default("vllm")
      .describe("What samples: vllm, sglang, or another that verl knows."),
    tensor_parallel: count(1)
      .default(1)
      .describe("GPUs that share one copy of the model while sampling.")
      .meta(free),
    setup_hook: words()
      .nullable()
      .default(null)
      .describe("A module.function that every process calls before it uses verl.")
      .meta(free),
    start_timeout_s: z
      .number()
      .gt(0)
      .max(86_400)
      .default(1800)
      .describe("Seconds until models are loaded and servers are up.")
      .meta(free),
    timeout_s: z
      .number()
      .gt(0)
      .max(86_400)
      .default(3600)
      .describe("Seconds for an update, an exchange of weights, or a checkpoint.")
      .meta(free),
    config: verlConfig(),
  })
  .prefault({})
  .describe("Options of the backend that the command line makes for backend: verl.");
