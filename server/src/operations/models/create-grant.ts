import { z } from "zod";
import { atLeastOne } from "../../contract/rules.ts";
import { grantee, ModelGrant, modelId } from "../../contract/schemas/custom-models.ts";
import { insertModelGrant, MAX_GRANTS_TO_OTHER_TENANTS } from "../../db/library/model-grants.ts";
import { Fault } from "../../faults/faults.ts";
import { createOnce } from "../../idempotency/create-once.ts";
import { renderGrant, requireManageable, toGrantee, toModelManager } from "../../library/custom-models.ts";
import type { Ids } from "../../runtime/clock.ts";
import { defineQuery } from "../define-query.ts";

export const createModelGrant = defineQuery({
  name: "models.grants.create",
  summary: "Allow a user or a tenant to use a custom model",
  http: { method: "POST", path: "/models/:model_id/grants", bodies: ["json"], status: 201 },
  changes: "access",
  input: z.object({ model_id: modelId(), ...grantee }),
  rules: [atLeastOne("user_id", "tenant_id")],
  output: ModelGrant,
  example: { model_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", user_id: "maria" },
  async handle({ model_id, ...to }, request, { ids }: { ids: Ids }) {
    const { database, caller } = request;
    const manager = toModelManager(caller);
    await requireManageable(database, manager, model_id);
    const newGrant = { ...toGrantee(caller, to), grant_id: ids.next() };
    const row = await createOnce(request, {
      operation: "models.grants.create",
      kind: "model_grant",
      input: { modelId: model_id, ...to },
      create: (idempotency) => insertModelGrant(database, manager, model_id, { ...newGrant, idempotency }),
      // The stored id is unused if the grantee had a grant before the first request. Inserting is idempotent and
      // returns the grant of the grantee.
      find: () => insertModelGrant(database, manager, model_id, newGrant),
      // The caller may manage the model, so only the number of grants can be the reason.
      explainRefusal: () =>
        new Fault("conflict", { retryable: false, reason: "too_many_grants", most: MAX_GRANTS_TO_OTHER_TENANTS }),
    });
    return renderGrant(row);
  },
});
