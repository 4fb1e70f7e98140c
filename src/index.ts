/** The public API of `agent-trainer`: named exports, no logic. */
export { reportTrajectory } from "./core/agent.ts";
