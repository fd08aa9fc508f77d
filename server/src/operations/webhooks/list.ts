import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { perPage } from "../../kit/pages.ts";
import { WebhookPage } from "../../kit/shapes-webhooks.ts";

export const listWebhooks = defineOperation({
  name: "webhooks.list",
  summary: "The webhooks of the tenant, newest first",
  http: { method: "GET", path: "/webhooks" },
  input: z.object(perPage),
  output: WebhookPage,
  example: { limit: 20 },
  answer: (input, ask) => ask.webhooks.list(input),
});
