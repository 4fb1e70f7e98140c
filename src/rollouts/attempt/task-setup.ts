/** The setup hook of an attempt and its teardown, each within its deadline. */
import type { SetUpInfo, TaskHooks, TaskSetup } from "../../core/hooks.ts";
import { ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import { isCallable } from "../programs/callable.ts";
import { startDeadline } from "../../core/deadline.ts";
import { describeValue, errorFacts } from "../failures/error-facts.ts";
import { raceUserCode } from "../failures/stray-errors.ts";

export interface SetUpLimits {
  readonly setUpTimeoutMs: number;
  readonly tearDownTimeoutMs: number;
}

/** Receives errors of the teardown, which can only be reported. */
type OnWarning = (message: string) => void;

/**
 * @throws what the hook throws, a DeadlineError when it is late, or the reason of `signal`. What a
 * late setup still creates is torn down when it arrives.
 */
export async function setUpTask<Metadata>(
  hooks: TaskHooks<Metadata>,
  task: Task<Metadata>,
  info: Omit<SetUpInfo, "signal">,
  limits: SetUpLimits,
  signal: AbortSignal,
  onWarning: OnWarning,
): Promise<TaskSetup<Metadata>> {
  signal.throwIfAborted();
  const deadline = startDeadline(`The setup of task "${task.id}"`, limits.setUpTimeoutMs, signal);
  const working = (async () =>
    (await hooks.setUp(task, { ...info, signal: deadline.signal })) ?? {})();
  try {
    const setup = await raceUserCode(() => working, deadline);
    checkSetup(setup);
    return setup;
  } catch (error) {
    void working.then(
      (late) => tearDownTask(late, task.id, limits, onWarning),
      () => {},
    );
    throw deadline.hasPassed() ? deadline.signal.reason : error;
  } finally {
    deadline.dispose();
  }
}

/** Never rejects. Not bound to any signal: it runs after everything else has been aborted. */
export async function tearDownTask<Metadata>(
  setup: TaskSetup<Metadata>,
  taskId: string,
  { tearDownTimeoutMs }: SetUpLimits,
  onWarning: OnWarning,
): Promise<void> {
  if (typeof setup.tearDown !== "function") return;
  const deadline = startDeadline("It", tearDownTimeoutMs);
  try {
    await raceUserCode(async () => await setup.tearDown?.(), deadline);
  } catch (error) {
    onWarning(`The teardown of task "${taskId}" failed: ${errorFacts(error).message}`);
  } finally {
    deadline.dispose();
  }
}

function checkSetup(setup: unknown): void {
  const wrong = (what: string): ConfigError =>
    new ConfigError({
      message: `hooks.setUp returned ${what}.`,
      hint: "Return nothing, or { env?, evaluator?, tearDown? }.",
    });
  if (typeof setup !== "object" || setup === null) throw wrong(describeValue(setup));
  const { evaluator, tearDown } = setup as TaskSetup;
  if (evaluator !== undefined && !isCallable(evaluator, "evaluate")) {
    throw wrong(`the evaluator ${describeValue(evaluator)}`);
  }
  if (tearDown !== undefined && typeof tearDown !== "function") {
    throw wrong(`the tearDown ${describeValue(tearDown)}`);
  }
}
