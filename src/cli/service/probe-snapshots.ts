/** Snapshots and checkpoints of a Tinker server: whether they keep the weights that they were made of. */
import { randomUUID } from "node:crypto";
import { SnapshotWitness } from "../../backends/tinker/snapshot-witness.ts";
import {
  type Answer,
  differs,
  distance,
  no,
  type Probe,
  type ProbeContext,
  short,
  unknown,
  yes,
} from "./finding.ts";
import { currentLogprobs, datumOf, each, probeTokens } from "./probe-data.ts";

async function step({ model, signal }: ProbeContext): Promise<void> {
  await model.forwardBackward(
    [datumOf({ weights: each(() => 1) })],
    "cross_entropy",
    {},
    { signal },
  );
  await model.optimStep({ learningRate: 1e-2 }, { signal });
}

async function askFrozen(context: ProbeContext): Promise<Answer> {
  const { model, signal } = context;
  const witness = await SnapshotWitness.of(await model.createSampler({ signal }), signal);
  await step(context);
  const { finding: found } = await witness.compare(() => model.createSampler({ signal }), signal);
  const moves = `${short(found.drift)} nats after a step that moved the weights by ${short(found.moved)}`;
  switch (found.kind) {
    case "frozen":
      return yes(`a snapshot moved by ${moves}`);
    case "live":
      return no(`snapshots follow the weights that are trained: ${moves}`);
    case "gone":
      return no("the snapshot before the newest one is gone");
    case "unmoved":
      return unknown(`the step changed too little: ${short(found.moved)} nats`);
  }
}

/** Sampling from the snapshot before the newest one changes nothing of what is trained. */
async function askApart(context: ProbeContext): Promise<Answer> {
  const { model, signal } = context;
  const old = await model.createSampler({ signal });
  await old.computeLogprobs(probeTokens, { signal });
  await step(context);
  const newest = await model.createSampler({ signal });
  await newest.computeLogprobs(probeTokens, { signal });
  const before = await currentLogprobs(model, signal);
  await old.computeLogprobs(probeTokens, { signal });
  const after = await currentLogprobs(model, signal);
  if (before === null || after === null) return unknown("no log-probabilities to compare");
  const apart = distance(before, after);
  return apart <= 1e-3
    ? yes("sampling from an old snapshot leaves the trained weights as they are")
    : no(`sampling from an old snapshot moves the trained weights by ${short(apart)} nats`);
}

/** Two models from one checkpoint, one step each: equal with the moments of the optimizer. */
async function askResume(context: ProbeContext): Promise<Answer> {
  const { client, model, signal } = context;
  await step(context);
  const path = await model.saveState(`doctor-${randomUUID()}`, { ttlSeconds: 3600, signal });
  await step(context);
  const expected = await currentLogprobs(model, signal);
  const resumed = await client.createModelFromState(path, true, { signal });
  try {
    await step({ ...context, model: resumed });
    const found = await currentLogprobs(resumed, signal);
    if (expected === null || found === null) return unknown("no log-probabilities to compare");
    const apart = distance(expected, found);
    const detail = `the step after it is ${short(apart)} nats from that of the original`;
    return apart <= 1e-3 ? yes(detail) : differs(detail);
  } finally {
    await resumed.unload({ signal }).catch(() => undefined);
  }
}

export const snapshotProbes: readonly Probe[] = [
  { topic: "snapshots", name: "keep their weights", ask: askFrozen },
  { topic: "snapshots", name: "are apart from training", ask: askApart },
  { topic: "snapshots", name: "checkpoints with optimizer", ask: askResume },
];
