/** `GET .../v1/models` and `GET .../v1/models/{id}`. */
import { ApiError } from "../http/api-error.ts";
import { show } from "../http/json-fields.ts";

interface WireModel {
  readonly id: string;
  readonly object: "model";
  readonly created: number;
  readonly owned_by: string;
}

function toWireModel(id: string): WireModel {
  return { id, object: "model", created: 0, owned_by: "agent-trainer" };
}

export function listModels(model: string): Response {
  return Response.json({ object: "list", data: [toWireModel(model)] });
}

/** @throws ApiError 404 */
export function retrieveModel(model: string, requested: string): Response {
  if (requested === model) return Response.json(toWireModel(model));
  throw new ApiError({
    status: 404,
    message: `There is no model ${show(requested)}; this gateway serves ${show(model)}.`,
    reason: "model_not_found",
    param: "model",
  });
}
