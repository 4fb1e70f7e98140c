/** Stands where a renderer is expected and the server renders: reads nothing, and says so. */
import type { Renderer } from "../../../core/policy.ts";
import { ApiError } from "../../http/api-error.ts";

export const serverRenderer: Renderer = {
  family: "server",
  stop: { tokenIds: [], strings: [] },
  render() {
    throw new ApiError({
      status: 501,
      message: "This gateway has no renderer: its workers render messages themselves.",
      reason: "no_renderer",
      retry: false,
    });
  },
  extend: () => null,
  parse: () => ({ content: "", toolCalls: [] }),
  decode: () => "",
};
