/** All commands by name, with what each is for. A command is loaded when its name is given. */
import type { CliCommand } from "./define-command.ts";

export interface CommandEntry {
  readonly description: string;
  readonly load?: () => Promise<{ readonly command: CliCommand }>;
  readonly commands?: Readonly<Record<string, CommandEntry>>;
  /** Of a command that only has commands. */
  readonly help?: string;
  /** It is still known, and not listed. */
  readonly isHidden?: boolean;
}

const modelHelp = `
A MODEL is a folder in Hugging Face layout, a .gguf file, OWNER/NAME on a hub, builtin:shop-tiny, a
run folder, a checkpoint in it, or a LoRA adapter.

Examples:
  $ agent-trainer model pull HuggingFaceTB/SmolLM2-135M-Instruct
  $ agent-trainer model inspect ./SmolLM2-135M-Instruct.Q4_1.gguf
  $ agent-trainer model merge runs/shop/checkpoints/000040/weights --into ./shop-model
  $ agent-trainer model export runs/shop --format gguf --dtype q8_0 --into shop.gguf
  $ agent-trainer model export runs/shop --format gguf --part adapter --into adapter.gguf
`;

const runsHelp = `
Examples:
  $ agent-trainer runs list
  $ agent-trainer runs show runs/shop
  $ agent-trainer runs compare runs/a runs/b
  $ agent-trainer runs gc --dry-run
  $ agent-trainer runs gc --yes
`;

const datasetHelp = `
Examples:
  $ agent-trainer dataset inspect train.jsonl
  $ agent-trainer dataset generate --mcp "npx -y my-server" --output tasks.jsonl
`;

const envHelp = `
Examples:
  $ agent-trainer env show ors:http://127.0.0.1:8080
  $ agent-trainer env show harbor:./tasks --split train --limit 10
  $ agent-trainer env setup
  $ agent-trainer env setup ./my_taskset
`;

const verlHelp = `
Examples:
  $ agent-trainer verl setup
  $ agent-trainer verl setup --inference sglang --dry-run
  $ agent-trainer verl check
  $ agent-trainer train shop.yaml backend=verl verl.gpus_per_node=8
`;

type Commands = Readonly<Record<string, CommandEntry>>;

const start: Commands = {
  demo: {
    description: "train the built-in shop agent, and show sample rollouts before and after",
    load: () => import("./commands/demo.ts"),
  },
  init: {
    description:
      "write a project with an agent that trains at once; files that exist are never overwritten",
    load: () => import("./commands/init.ts"),
  },
  doctor: {
    description:
      "check this machine: hardware, kernels of the engine, hub cache, and how to fix problems",
    load: () => import("./commands/doctor.ts"),
    commands: {
      agreement: {
        description: "compare an evaluator with the thumbs of production, and tell what it costs",
        load: () => import("./commands/doctor-agreement.ts"),
      },
      reward: {
        description: "probe the evaluator of a configuration, and show what it pays for",
        load: () => import("./commands/doctor-reward.ts"),
      },
      service: {
        description: "check a Tinker server: what it can do, averages, clips and ignores",
        load: () => import("./commands/doctor-service.ts"),
      },
    },
  },
};

const train: Commands = {
  train: {
    description: "train the agent that a YAML file describes",
    load: () => import("./commands/train.ts"),
  },
  sweep: {
    description: "train with several values of options, and compare them over seeds",
    load: () => import("./commands/sweep.ts"),
  },
  sft: {
    description: "fine-tune a model on conversations, or on good episodes of a run",
    load: () => import("./commands/sft.ts"),
  },
  dpo: {
    description: "fine-tune a model on pairs of a chosen and a rejected response",
    load: () => import("./commands/dpo.ts"),
  },
  kto: {
    description: "fine-tune a model on responses that are each labelled good or bad",
    load: () => import("./commands/kto.ts"),
  },
  try: {
    description: "run the agent on one task, and show all that happened",
    load: () => import("./commands/try.ts"),
  },
};

const evaluate: Commands = {
  eval: {
    description: "evaluate an agent against any model, without training",
    load: () => import("./commands/eval.ts"),
  },
  compare: {
    description: "compare two evaluations task by task",
    load: () => import("./commands/compare.ts"),
  },
  gate: {
    description: "decide whether a candidate is better than the model in use",
    load: () => import("./commands/gate.ts"),
  },
  rescore: {
    description: "score recorded episodes with another evaluator, without model calls",
    load: () => import("./commands/rescore.ts"),
  },
};

const look: Commands = {
  view: {
    description: "look at runs in the browser, or write one as an HTML file",
    load: () => import("./commands/view.ts"),
  },
  show: {
    description: "list recorded episodes of a run or an evaluation, or show one",
    load: () => import("./commands/show.ts"),
  },
  trace: {
    description: "now a part of show",
    load: () => import("./commands/trace.ts"),
    isHidden: true,
  },
  runs: {
    description: "list runs, show one, compare two, and delete old checkpoints",
    help: runsHelp,
    commands: {
      list: {
        description: "list the runs of a folder, the one written last first",
        load: () => import("./commands/runs-list.ts"),
      },
      show: {
        description: "show one run: status, steps, rewards, checkpoints, size",
        load: () => import("./commands/runs-show.ts"),
      },
      compare: {
        description: "compare two runs: options that differ, metrics side by side",
        load: () => import("./commands/runs-compare.ts"),
      },
      gc: {
        description: "delete checkpoints; the newest and the best of each run are kept",
        load: () => import("./commands/runs-gc.ts"),
      },
    },
  },
  export: {
    description: "write recorded rollouts in the formats of other programs",
    load: () => import("./commands/export.ts"),
  },
  import: {
    description: "read what other programs recorded, to look at it here",
    load: () => import("./commands/import.ts"),
  },
};

const serve: Commands = {
  serve: {
    description: "serve trained models to clients of OpenAI and Anthropic",
    load: () => import("./commands/serve.ts"),
  },
  chat: {
    description: "talk to a model in the terminal",
    load: () => import("./commands/chat.ts"),
  },
  gateway: {
    description: "run a gateway that captures every model call of any agent, token by token",
    load: () => import("./commands/gateway.ts"),
  },
};

const production: Commands = {
  collect: {
    description: "keep traces and feedback of agents in production, from programs or files",
    load: () => import("./commands/collect.ts"),
  },
  curate: {
    description: "make of what was collected what sft, kto and dpo read, with a report",
    load: () => import("./commands/curate.ts"),
  },
  improve: {
    description: "learn from what was collected, and hand a better model over to serve",
    load: () => import("./commands/improve.ts"),
  },
};

const parts: Commands = {
  model: {
    description: "inspect, download, merge and export models",
    help: modelHelp,
    commands: {
      inspect: {
        description:
          "show a model's architecture and size, whether it can be trained, and the memory that takes",
        load: () => import("./commands/model-inspect.ts"),
      },
      pull: {
        description:
          "download a model from the hub into its cache; resumes an interrupted download",
        load: () => import("./commands/model-pull.ts"),
      },
      merge: {
        description: "merge a LoRA adapter into its base model, and write the result to a folder",
        load: () => import("./commands/model-merge.ts"),
      },
      export: {
        description: "write a model for vLLM (hf), or for llama.cpp and Ollama (gguf)",
        load: () => import("./commands/model-export.ts"),
      },
    },
  },
  dataset: {
    description: "inspect datasets, and make tasks for the tools of an MCP server",
    help: datasetHelp,
    commands: {
      generate: {
        description:
          "write tasks for the tools of an MCP server, with checks that their solution passes",
        load: () => import("./commands/dataset-generate.ts"),
      },
      inspect: {
        description:
          "show the fields and types of a dataset's rows, bad rows with their lines, and duplicates",
        load: () => import("./commands/dataset-inspect.ts"),
      },
    },
  },
  env: {
    description:
      "show what an environment offers, and install what verifiers: and reasoning-gym: need",
    help: envHelp,
    commands: {
      show: {
        description: "list the first tasks of an environment, and the prompt and tools of one",
        load: () => import("./commands/env-show.ts"),
      },
      setup: {
        description:
          "create a Python environment with verifiers, for verifiers:NAME, and further packages",
        load: () => import("./commands/env-setup.ts"),
      },
    },
  },
  verl: {
    description: "manage the Python environment for training on GPUs with verl",
    help: verlHelp,
    commands: {
      setup: {
        description: "create a Python environment with verl, Ray and an inference server",
        load: () => import("./commands/verl-setup.ts"),
      },
      check: {
        description: "list the packages of an environment, and what is missing",
        load: () => import("./commands/verl-check.ts"),
      },
    },
  },
};

const shell: Commands = {
  completion: {
    description: "print a script that completes commands and flags in a shell",
    load: () => import("./commands/completion.ts"),
  },
};

/** By the headings of the help. */
export const commandTable: Readonly<Record<string, Commands>> = {
  "Start:": start,
  "Train:": train,
  "Evaluate:": evaluate,
  "Look at runs:": look,
  "Serve:": serve,
  "From production:": production,
  "Models, data, environments:": parts,
  "Shell:": shell,
};
