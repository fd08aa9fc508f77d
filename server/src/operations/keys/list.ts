import { z } from "zod";
import { renderApiKeys, visibleUserId } from "../../access/keys.ts";
import { paginate } from "../../access/pagination.ts";
import { paginationFields } from "../../contract/pagination.ts";
import { ApiKeyPage } from "../../contract/schemas/access.ts";
import { listApiKeys } from "../../db/access/api-keys.ts";
import { defineQuery } from "../define-query.ts";

export const listKeys = defineQuery({
  name: "keys.list",
  summary: "List keys, newest first. Owners see all keys of the tenant, other members their own",
  http: { method: "GET", path: "/keys" },
  input: z.object(paginationFields),
  output: ApiKeyPage,
  example: { limit: 20 },
  handle(page, request) {
    const { database, caller, cursors } = request;
    const of = visibleUserId(caller);
    return paginate(cursors, page, {
      scope: ["keys", caller.tenant_id, of],
      read: async (before, limit) =>
        renderApiKeys(request, await listApiKeys(database, caller.tenant_id, { before, of }, limit)),
      cursorId: ({ id }) => id,
      render: (key) => key,
    });
  },
});
