/**
 * Makes the virtual environment with the peers that benchmarks compare with, in `.cache/bench-peers`:
 * rLLM's gateway and the proxy of LiteLLM, from PyPI. Does nothing where it is there already.
 *
 *   npm run bench:setup [-- --rebuild]
 *
 * The interpreter is python3, or what PYTHON names; it has to be 3.11 or newer.
 */
import { makeEnvironment } from "./bench-environment.mjs";

makeEnvironment({
  name: "bench-peers",
  title: "rLLM's gateway and LiteLLM's proxy",
  // Pinned, so that all compare with the same.
  packages: ["rllm-model-gateway==0.1.0", "litellm[proxy]==1.106.2"],
  hint: "Set PYTHON to an interpreter of version 3.11 or newer, and check that PyPI can be reached.",
});
