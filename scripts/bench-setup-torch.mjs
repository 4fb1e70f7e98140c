/**
 * Makes the virtual environment with PyTorch, transformers, PEFT and TRL that `engine-train`,
 * `engine-sample` and `grpo-step` compare with, in `.cache/bench-torch` (some 6 GB: the wheel of PyPI brings its GPU
 * libraries along). Does nothing where it is there already.
 *
 *   npm run bench:setup:torch [-- --rebuild]
 *
 * The interpreter is python3, or what PYTHON names.
 */
import { makeEnvironment } from "./bench-environment.mjs";

makeEnvironment({
  name: "bench-torch",
  title: "PyTorch, transformers, PEFT and TRL",
  // Pinned, so that all compare with the same.
  packages: ["torch==2.15.0", "transformers==5.23.0", "peft==0.21.2", "trl==1.16.0"],
  hint: "Check that PyPI can be reached and that there are 10 GB of room.",
});
