import { z } from "zod";
import { paginate } from "../../access/pagination.ts";
import { paginationFields } from "../../contract/pagination.ts";
import { WebhookPage } from "../../contract/schemas/webhooks.ts";
import { listWebhookRows } from "../../db/webhooks/endpoints.ts";
import { renderWebhook } from "../../webhooks/endpoint.ts";
import type { WebhookService } from "../../webhooks/webhook-service.ts";
import { defineQuery } from "../define-query.ts";

export const listWebhooks = defineQuery({
  name: "webhooks.list",
  summary: "List webhooks of the tenant, newest first",
  http: { method: "GET", path: "/webhooks" },
  input: z.object(paginationFields),
  output: WebhookPage,
  example: { limit: 20 },
  handle: (page, { cursors, database, caller }, services: Pick<WebhookService, "keysUrl">) =>
    paginate(cursors, page, {
      scope: ["webhooks", caller.tenant_id],
      read: (before, limit) => listWebhookRows(database, caller.tenant_id, before, limit),
      cursorId: (row) => row.webhook_id,
      render: (row) => renderWebhook(services, row),
    }),
});
