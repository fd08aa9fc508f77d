// What those who walk over all operations need for the ones about custom models: a model that is there, with a grant to take
// back, and the address to do it at.
import type { Suite } from "./world.ts";

const TO = { user_id: "maria" };

export const isOfModel = (operationId: string): boolean => operationId.startsWith("models.");

export async function modelFor(suite: Suite): Promise<string> {
  const draft = { name: "x", model_type: "wan-image-2.1", deployment_id: "x" };
  const { model_id } = (await suite.caller.post("/models", draft)).body;
  await suite.caller.post(`/models/${model_id}/grants`, TO);
  return model_id;
}

/** A grant is named by whom it is for, in the query. */
export const queryFor = (operationId: string): string =>
  operationId === "models.grants.delete" ? `?${new URLSearchParams(TO)}` : "";
