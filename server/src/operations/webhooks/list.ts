import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { WebhookPage } from "../../kit/schemas/webhooks.ts";

export const listWebhooks = defineOperation({
  name: "webhooks.list",
  summary: "List webhooks of the tenant, newest first",
  http: { method: "GET", path: "/webhooks" },
  input: z.object(paginationFields),
  output: WebhookPage,
  example: { limit: 20 },
  respond: (input, services) => services.webhooks.list(input),
});
