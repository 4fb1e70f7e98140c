import { describe, expect, it } from "vitest";
import { checkCapabilities } from "../trainer/check-capabilities.ts";
import { capabilityMatrix } from "../core/capabilities.ts";
import { adapterNames, adaptersOf, frozenRoles } from "./adapter-map.ts";
import { loadConfig } from "./load.ts";
import { modelSpecOf } from "./model-spec.ts";

const given = (set: Record<string, unknown>) =>
  loadConfig({
    overrides: { "model.name": "builtin:shop-tiny", "model.lora_rank": 4, ...set },
  }).config;
const option = "model.adapter_by_role";

describe("model.adapter_by_role", () => {
  it("is a map or a list of role=adapter", () => {
    const map = { solver: "solver", judge: "none", title: "default" };
    const list = ["solver=solver", "judge=none", "title=default"];
    for (const form of [map, list]) {
      const { model } = given({ [option]: form });
      expect(model.adapterByRole).toEqual(list);
      expect([...adaptersOf(model.adapterByRole)]).toEqual([
        ["solver", "solver"],
        ["judge", null],
        ["title", "default"],
      ]);
      expect(modelSpecOf(model).adapters).toEqual(["solver"]);
      expect(frozenRoles(model.adapterByRole)).toEqual(["judge"]);
    }
    expect(adapterNames(["a=x", "b=x", "c=y"])).toEqual(["x", "y"]);
    expect(modelSpecOf(given({ [option]: { judge: "none" } }).model).adapters).toBeUndefined();
  });

  it.each(["../x", "a/b", "", ".", "a.", 3, null, "a b"])("refuses the name %j", (name) => {
    expect(() => given({ [option]: { judge: name } })).toThrow(option);
  });

  it("refuses what would have no effect", () => {
    const frozen = { [option]: { judge: "none" } };
    expect(() => given({ ...frozen, "algorithm.loss_by_role": { judge: "dro" } })).toThrow(
      "algorithm.loss_by_role names the role judge, which model.adapter_by_role freezes",
    );
    expect(() =>
      given({ [option]: { judge: "judge" }, "rollout.untrained_roles": ["judge"] }),
    ).toThrow("so it is never trained. Set it to none.");
  });

  it("refuses several adapters with one critic", () => {
    const gae = { "algorithm.estimator": "gae" };
    expect(() => given({ ...gae, [option]: { judge: "judge" } })).toThrow(
      "algorithm.estimator is gae",
    );
    expect(() => given({ ...gae, [option]: { judge: "none" } })).not.toThrow();
  });

  it("is refused by name where a backend has one adapter", () => {
    const config = given({ [option]: { judge: "judge" } });
    for (const name of ["verl", "fireworks"] as const)
      expect(() =>
        checkCapabilities(config, { name, capabilities: capabilityMatrix[name] }),
      ).toThrow(option);
    const { local } = capabilityMatrix;
    expect(() => checkCapabilities(config, { name: "local", capabilities: local })).not.toThrow();
  });
});
