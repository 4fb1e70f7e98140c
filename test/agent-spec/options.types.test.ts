import { describe, expect, expectTypeOf, it } from "vitest";
import {
  AgentTrainer,
  loadConfig,
  type AgentTrainerOptions,
  type Episode,
  type ModelOutput,
  type Task,
  type TrainOptions,
  Workflow,
} from "../../src/index.ts";
import type { Agent, Environment } from "../../src/rollouts/workflow/agent-environment.ts";
import { coinBackend } from "../trainer/coin-backend.ts";

/** What `npm run types` says of the options of a trainer; the run-time checks are in `agent-spec.test.ts`. */
const backend = coinBackend();
const config: TrainOptions = { model: { name: "coin" } };
const rows = [{ question: "2 + 2?", answer: 4 }];
const common = { backend, config, trainDataset: rows };

class Look extends Workflow {
  run(): string {
    return "";
  }
}
class Player implements Agent<string, string> {
  readonly chatCompletions = [];
  updateFromEnv(): void {}
  updateFromModel(text: string, _output: ModelOutput): string {
    return text;
  }
}
class Board implements Environment<string, string> {
  reset() {
    return { observation: "" };
  }
  step() {
    return { observation: "", reward: 1, done: true };
  }
}

describe("the row type of trainDataset", () => {
  it("is that of task.metadata, without a type argument", () => {
    const trainer = new AgentTrainer({
      ...common,
      agentFlow: (task) => {
        expectTypeOf(task.metadata).toEqualTypeOf<{ question: string; answer: number }>();
        expectTypeOf(task.instruction).toEqualTypeOf<string>();
        return task.metadata.answer;
      },
      evaluator: (task, episode) => {
        // @ts-expect-error there is no such column
        void task.metadata.gold;
        return episode.output === task.metadata.answer;
      },
      hooks: { setUp: (task) => ({ env: task.metadata.answer.toFixed(2) }) },
    });
    // One type of trainers for functions that take one.
    expectTypeOf(trainer).toExtend<AgentTrainer>();
  });

  it("of tasks is that of their metadata", () => {
    const tasks = [{ id: "1", instruction: "x", metadata: { gold: true } }];
    void new AgentTrainer({
      ...{ backend, config },
      trainDataset: tasks,
      valDataset: tasks,
      agentRunFunc: (task) => {
        expectTypeOf(task.metadata).toEqualTypeOf<{ gold: boolean }>();
        return task.metadata.gold;
      },
    });
  });

  it("reaches functions inside objects, and through any iterable", () => {
    async function* stream(): AsyncGenerator<{ readonly question: string; readonly level: 1 | 2 }> {
      yield { question: "x", level: 1 };
    }
    void new AgentTrainer({
      ...{ backend, config },
      trainDataset: stream(),
      agentFlow: { run: (task) => task.metadata.level },
      evaluator: {
        evaluate: (task) => {
          expectTypeOf(task.metadata.level).toEqualTypeOf<1 | 2>();
          return task.metadata.level === 1;
        },
      },
    });
  });

  it("may be an interface, and must fit functions that are declared elsewhere", () => {
    interface Row {
      readonly question: string;
      readonly answer: string;
    }
    const trainDataset: readonly Row[] = [{ question: "x", answer: "y" }];
    const agentFlow = (task: Task<Row>): string => task.metadata.answer;
    const evaluator = (task: Task<Row>, { output }: Episode): boolean =>
      output === task.metadata.answer;
    void new AgentTrainer({ backend, config, trainDataset, agentFlow, evaluator });
    const other = (task: Task<{ gold: number }>): boolean => task.metadata.gold === 1;
    // @ts-expect-error rows have no `gold`
    void new AgentTrainer({ backend, config, trainDataset, agentFlow, evaluator: other });
    const valDataset = [{ question: "x" }];
    const validated = { backend, config, trainDataset, agentFlow, evaluator };
    // @ts-expect-error rows to validate on lack the column `answer`
    const make = () => new AgentTrainer({ ...validated, valDataset });
    // Rows are read when the run starts.
    expect(make).not.toThrow();
  });

  it("is a map of unknown values where nothing more is known", () => {
    const trainDataset: Record<string, unknown>[] = [{ question: "x" }];
    void new AgentTrainer({
      ...{ backend, config, trainDataset },
      agentRunFunc: (task) => {
        expectTypeOf(task.metadata).toEqualTypeOf<Record<string, unknown>>();
        return 1;
      },
    });
  });
});

describe("an agent", () => {
  const agentFlow = () => "x";
  const evaluator = () => true;
  const agentRunFunc = () => 1;
  const expectRefused = (options: AgentTrainerOptions<(typeof rows)[number]>): void => {
    expect(() => new AgentTrainer(options)).toThrow(/AgentTrainer|is not set|text|string/);
  };

  it("has one of four forms", () => {
    const forms: AgentTrainerOptions<(typeof rows)[number]>[] = [
      { ...common, agentFlow, evaluator },
      { ...common, agentFlow, hooks: { setUp: () => ({ evaluator }) } },
      { ...common, agentRunFunc },
      { ...common, workflowClass: Look, workflowArgs: { gamma: 0.9 } },
      { ...common, workflowClass: Look, evaluator },
      { ...common, agentClass: Player, envClass: Board, agentArgs: {}, envArgs: {} },
    ];
    for (const form of forms) expect(new AgentTrainer(form)).toBeInstanceOf(AgentTrainer);
  });

  it("is never missing, and never two", () => {
    // @ts-expect-error none
    expectRefused(common);
    // @ts-expect-error an agentFlow does not score itself
    expectRefused({ ...common, agentFlow });
    // @ts-expect-error two agents
    expectRefused({ ...common, agentFlow, evaluator, agentRunFunc });
    // @ts-expect-error two agents
    expectRefused({ ...common, workflowClass: Look, agentClass: Player, envClass: Board });
    // @ts-expect-error an agent without an environment
    expectRefused({ ...common, agentClass: Player });
    // @ts-expect-error an environment without an agent
    expectRefused({ ...common, agentRunFunc, envClass: Board });
    // @ts-expect-error two scores
    expectRefused({ ...common, agentRunFunc, evaluator });
    // @ts-expect-error arguments of another kind of agent
    expectRefused({ ...common, agentFlow, evaluator, workflowArgs: {} });
    // @ts-expect-error no data
    expectRefused({ backend, config, agentRunFunc });
  });

  it("comes from the configuration only where that is complete", () => {
    const complete = loadConfig({ overrides: ["model.name=coin", "agent=./a.mjs"] });
    const { config: loaded } = loadConfig({
      overrides: ["model.name=coin", "agent=./a.mjs", "dataset.train=./a.jsonl"],
    });
    expect(new AgentTrainer({ config: loaded, backend })).toBeInstanceOf(AgentTrainer);
    expectRefused({ config: complete.config, backend });
    // @ts-expect-error options in code say which agent, so it must be there
    expectRefused({ config, backend, trainDataset: rows });
  });

  it("and a backend may be a name of this package", () => {
    void new AgentTrainer({ ...common, backend: "tinker", agentRunFunc });
    void new AgentTrainer({ config, trainDataset: rows, agentRunFunc });
    const make = () =>
      // @ts-expect-error there is no such backend
      new AgentTrainer({ ...common, backend: "verll", agentRunFunc });
    expect(make).toThrow('There is no backend "verll"');
  });
});
