/** Options of where a run's gateway listens, for agents in containers and on other machines. */
import { z } from "zod";
import { integer, nonEmptyString, type Section } from "./kinds.ts";
import { free } from "./option-meta.ts";

export const gatewayOptions: Section<"gateway"> = z
  .strictObject({
    host: nonEmptyString()
      .nullable()
      .default(null)
      .describe(
        "Address that the run's gateway listens on; null is 127.0.0.1, which only this machine reaches, 0.0.0.0 every address, for agents in containers and on other machines. Calls need the token of their rollout.",
      )
      .meta({ ...free, exampleValues: ["0.0.0.0"] }),
    port: integer(0)
      .max(65_535)
      .default(0)
      .describe("Port of the run's gateway; 0 is a free one.")
      .meta(free),
    public_url: z
      .string()
      .regex(/^https?:\/\/[^/]+\/?$/u)
      .nullable()
      .default(null)
      .describe(
        "URL by which agents reach the run's gateway, without a path, such as http://host.docker.internal:8000; null is the address that it listens on.",
      )
      .meta({ ...free, exampleValues: ["http://host.docker.internal:8000"] }),
  })
  .prefault({});
