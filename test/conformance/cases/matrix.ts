/** Every scenario with every client, streaming and not. */
import { withWorld, type ConformanceCase } from "../case.ts";
import { clients } from "../clients/index.ts";
import type { Client } from "../client.ts";
import { scenarios, type Scenario } from "./scenarios.ts";

function skipReason({ needs = [] }: Scenario, client: Client): string | undefined {
  if (client.skip !== undefined) return client.skip;
  const missing = needs.find((feature) => client.lacks.includes(feature));
  return missing === undefined
    ? undefined
    : `${client.name} has no way to ask for or show ${missing}`;
}

export const matrixCases: readonly ConformanceCase[] = clients.flatMap((client) =>
  scenarios.flatMap((scenario) =>
    [false, true].flatMap((stream): ConformanceCase[] => {
      const skip = skipReason(scenario, client);
      // What a client lacks is no case of it.
      if (skip !== undefined && client.skip === undefined) return [];
      return [
        {
          name: `${client.name}, ${stream ? "streamed" : "whole"}: ${scenario.name}`,
          client: client.name,
          ...(skip === undefined ? {} : { skip }),
          run: (target) =>
            withWorld(target, scenario.world, async (world) => {
              const open = (settings = {}): ReturnType<Client["open"]> =>
                client.open(world, { ...settings, stream });
              await scenario.run({ client, world, open });
            }),
        },
      ];
    }),
  ),
);
