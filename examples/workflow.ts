/** A rollout as a class: two turns, a reward for each, later rewards discounted. */
import { AgentTrainer, type Task, TerminationEvent, Workflow } from "agent-trainer";
import { config, opening, tasks, tool, trainAndPrint } from "./shared/prices.ts";

class LookUp extends Workflow<{ readonly price: number }> {
  async run(task: Task): Promise<string> {
    const agent = this.trajectory();
    const messages = opening(task.instruction);
    const first = await agent.call(messages, { tools: [tool] });
    const [call] = first.toolCalls;
    agent.mark({ action: call?.function.name, reward: call === undefined ? 0 : 0.5 });
    if (call === undefined) throw new TerminationEvent("env_done");

    const result = { role: "tool", tool_call_id: call.id, content: String(this.args.price) };
    const second = await agent.call([...messages, first.message, result], { tools: [tool] });
    const usesPrice = `${second.content} ${JSON.stringify(second.toolCalls)}`.includes(
      String(this.args.price),
    );
    agent.mark({ reward: usesPrice ? 0.5 : 0, done: true });
    return second.content;
  }
}

await trainAndPrint(
  new AgentTrainer({
    config,
    trainDataset: tasks,
    workflowClass: LookUp,
    workflowArgs: { price: 42, gamma: 0.9 },
  }),
);
