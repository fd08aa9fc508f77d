import { z } from "zod";
import { paginate } from "../../access/pagination.ts";
import { paginationFields } from "../../contract/pagination.ts";
import { ModelGrantPage, modelId } from "../../contract/schemas/custom-models.ts";
import { listModelGrantRows } from "../../db/library/model-grants.ts";
import { renderGrant, requireManageable, toModelManager } from "../../library/custom-models.ts";
import { defineQuery } from "../define-query.ts";

export const listModelGrants = defineQuery({
  name: "models.grants.list",
  summary: "List grants of a custom model, newest first",
  http: { method: "GET", path: "/models/:model_id/grants" },
  input: z.object({ model_id: modelId(), ...paginationFields }),
  output: ModelGrantPage,
  example: { model_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  async handle({ model_id, ...page }, { database, caller, cursors }) {
    const manager = toModelManager(caller);
    await requireManageable(database, manager, model_id);
    return paginate(cursors, page, {
      scope: ["grants", caller.tenant_id, caller.user_id, model_id],
      read: (before, limit) => listModelGrantRows(database, manager, model_id, { before, limit }),
      cursorId: ({ grant_id }) => grant_id,
      render: renderGrant,
    });
  },
});
