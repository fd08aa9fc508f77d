import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import {
  defaultEventsField,
  NewWebhook,
  webhookDescription,
  webhookSecretField,
  webhookUrl,
} from "../../kit/schemas/webhooks.ts";

export const createWebhook = defineOperation({
  name: "webhooks.create",
  summary: "Create a webhook that sends events to a URL. Only this response contains the secret",
  http: { method: "POST", path: "/webhooks", bodies: ["json"], status: 201 },
  changes: "access",
  input: z.object({
    url: webhookUrl(),
    events: defaultEventsField(),
    description: webhookDescription().optional(),
    secret: webhookSecretField().optional(),
  }),
  output: NewWebhook,
  example: { url: "https://example.com/hooks/gesso", events: ["run.completed", "run.failed"] },
  respond: (input, services) => services.webhooks.create(input),
});
