/**
 * All commands by the headings of the help and by name, with what each is for. `runs list` is
 * `commands/runs-list.ts`, which is loaded when it is named.
 */

/** What it is for; or, of one with commands below it, that and those. */
export type CommandEntry =
  | string
  | {
      readonly description: string;
      readonly commands?: Commands;
      /** Of one that only has commands, and no file. */
      readonly help?: string;
      /** It is still known, and not listed. */
      readonly isHidden?: boolean;
    };

type Commands = Readonly<Record<string, CommandEntry>>;

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
  $ agent-trainer env show openenv:http://127.0.0.1:8000
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

/** By the headings of the help. */
export const commandTable: Readonly<Record<string, Commands>> = {
  "Start:": {
    demo: "train the built-in shop agent, and show sample rollouts before and after",
    init: "write a project with an agent that trains at once; files that exist are never overwritten",
    doctor: {
      description:
        "check this machine: hardware, kernels of the engine, hub cache, and how to fix problems",
      commands: {
        reward: "probe the evaluator of a configuration, and show what it pays for",
      },
    },
  },
  "Train:": {
    train: "train the agent that a YAML file describes",
    sft: "fine-tune a model on conversations, or on good episodes of a run",
    dpo: "fine-tune a model on pairs of a chosen and a rejected response",
    kto: "fine-tune a model on responses that are each labelled good or bad",
    try: "run the agent on one task, and show all that happened",
  },
  "Evaluate:": {
    eval: "evaluate an agent against any model, without training",
    compare: "compare two evaluations task by task",
    gate: "decide whether a candidate is better than the model in use",
    rescore: "score recorded episodes with another evaluator, without model calls",
  },
  "Look at runs:": {
    view: "look at runs in the browser, or write one as an HTML file",
    show: "list recorded episodes of a run or an evaluation, or show one",
    runs: {
      description: "list runs, show one, compare two, and delete old checkpoints",
      help: runsHelp,
      commands: {
        list: "list the runs of a folder, the one written last first",
        show: "show one run: status, steps, rewards, checkpoints, size",
        compare: "compare two runs: options that differ, metrics side by side",
        gc: "delete checkpoints; the newest and the best of each run are kept",
      },
    },
    export: "write recorded rollouts in the formats of other programs",
  },
  "Serve:": {
    serve: "serve trained models to clients of OpenAI and Anthropic",
    chat: "talk to a model in the terminal",
    gateway: "run a gateway that captures every model call of any agent, token by token",
  },
  "From production:": {
    collect: "keep traces and feedback of agents in production, from programs or files",
    curate: "make of what was collected what sft, kto and dpo read, with a report",
    improve: "learn from what was collected, and hand a better model over to serve",
  },
  "Models, data, environments:": {
    model: {
      description: "inspect, download, merge and export models",
      help: modelHelp,
      commands: {
        inspect:
          "show a model's architecture and size, whether it can be trained, and the memory that takes",
        pull: "download a model from the hub into its cache; resumes an interrupted download",
        merge: "merge a LoRA adapter into its base model, and write the result to a folder",
        export: "write a model for vLLM (hf), or for llama.cpp and Ollama (gguf)",
      },
    },
    dataset: {
      description: "inspect datasets, and make tasks for the tools of an MCP server",
      help: datasetHelp,
      commands: {
        generate:
          "write tasks for the tools of an MCP server, with checks that their solution passes",
        inspect:
          "show the fields and types of a dataset's rows, bad rows with their lines, and duplicates",
      },
    },
    env: {
      description:
        "show what an environment offers, and install what verifiers: and reasoning-gym: need",
      help: envHelp,
      commands: {
        show: "list the first tasks of an environment, and the prompt and tools of one",
        setup:
          "create a Python environment with verifiers, for verifiers:NAME, and further packages",
      },
    },
    verl: {
      description: "manage the Python environment for training on GPUs with verl",
      help: verlHelp,
      commands: {
        setup: "create a Python environment with verl, Ray and an inference server",
        check: "list the packages of an environment, and what is missing",
      },
    },
  },
  "Shell:": {
    completion: "print a script that completes commands and flags in a shell",
  },
};
