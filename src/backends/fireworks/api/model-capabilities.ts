/** What a model on Fireworks can do, as the answer to `create_model` says. */

/** What the trainer of a model reports about itself; what it does not report is not supported. */
export interface FireworksModelCapabilities {
  /** Losses and corrections that it has in addition to the documented ones. */
  readonly reinforce: boolean;
  readonly scoreCentering: boolean;
  readonly policyImportanceSampling: boolean;
  readonly policyDiagnostics: boolean;
  readonly targetLogprobSupport: boolean;
  /** Whether it takes the routes that a mixture of experts sampled with. */
  readonly routerReplay: boolean;
}

/** Anything but `true` is "no": a value that this version does not know must not switch anything on. */
export function readCapabilities(
  result: Readonly<Record<string, unknown>>,
): FireworksModelCapabilities {
  const has = (name: string): boolean => result[`supports_${name}`] === true;
  return {
    reinforce: has("reinforce"),
    scoreCentering: has("score_centering"),
    policyImportanceSampling: has("policy_importance_sampling"),
    policyDiagnostics: has("policy_diagnostics"),
    targetLogprobSupport: has("target_logprob_support"),
    routerReplay: has("router_replay"),
  };
}
