/** The interpreter with the official packages of environments: OpenEnv, reasoning-gym. */
import { pythonEnvironment } from "../python-environment.ts";

const never = "sys_platform == 'never'";

export const environmentsPython = (): string =>
  pythonEnvironment({
    name: "environments",
    packages: ["openenv==0.10.0", "reasoning-gym==0.1.25"],
    // The user interface of OpenEnv, which these tests do not open.
    overrides: [`gradio ; ${never}`],
  });

/** Harbor's models; what its commands need besides is left out. */
export const harborPython = (): string =>
  pythonEnvironment({
    name: "harbor",
    packages: ["harbor==0.25.0"],
    overrides: [
      "certifi",
      `litellm ; ${never}`,
      `supabase ; ${never}`,
      `uvicorn ; ${never}`,
      `fastapi ; ${never}`,
    ],
    interpreter: process.env["PYTHON_3_12"] ?? "python3.12",
  });
