/** MLflow's responses are read up to a limit. */
import { expect, it } from "vitest";
import { mlflowRequests } from "../../src/trackers/mlflow/api.ts";
import { startEndlessServer } from "../endless-server.ts";

it("is refused once when it never ends", async () => {
  await using server = await startEndlessServer();
  const request = mlflowRequests({ url: server.url, authorization: null });
  await expect(request("GET", "runs/get", {}, new AbortController().signal)).rejects.toThrow(
    "MLflow responded to runs/get with more than 16 MiB.",
  );
  expect(server.requests()).toBe(1);
});
