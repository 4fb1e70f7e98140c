/**
 * A solver and a checker, both trained, with one set of weights. The solver answers a question of the shop; the
 * checker is shown the question and the answer, finds out for itself, and accepts the answer if it agrees. The
 * solver is paid for the right answer, the checker for the right verdict, whatever the solver did. Arguments
 * are options, such as trainer.total_batches=5.
 */
import { AgentTrainer, defineTrajectory, loadConfig } from "agent-trainer";
import { agent } from "../shop/agent.ts";
import { makeTasks } from "../shop/tasks.ts";

const { config } = loadConfig({
  overrides: [
    "model.name=builtin:shop-tiny",
    "data.train_batch_size=8",
    "rollout.n=8",
    "rollout.train.max_tokens=64",
    "training.learning_rate=7e-4",
    "trainer.total_batches=20",
    ...process.argv.slice(2),
  ],
});

const numberOf = (text: string): number => Number(text.match(/\d+/g)?.at(-1));

const trainer = new AgentTrainer({
  config,
  trainDataset: makeTasks("train", 512),
  agentRunFunc: async (task, endpoint) => {
    const solver = endpoint.trajectory("solver");
    const said = numberOf(await agent(task, { ...endpoint, baseUrl: solver.baseUrl }));
    const checker = endpoint.trajectory("checker");
    const question = { ...task, instruction: `(${said}) ${task.instruction}` };
    const found = numberOf(await agent(question, { ...endpoint, baseUrl: checker.baseUrl }));

    const isRight = said === task.metadata.answer;
    const isAccepted = found === said;
    return [
      defineTrajectory({ name: "solver", uid: solver.uid, reward: isRight ? 1 : 0 }),
      defineTrajectory({
        name: "checker",
        uid: checker.uid,
        reward: isAccepted === isRight ? 1 : 0,
      }),
    ];
  },
});

for await (const event of trainer.events()) {
  if (event.type !== "step-end") continue;
  const of = (role: string) => event.metrics[`reward/${role}/mean`]?.toFixed(3);
  console.log(`step ${event.step}  solver ${of("solver")}  checker ${of("checker")}`);
}
