import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { overlap, ownSecret, WebhookSecret } from "../../kit/shapes-webhooks.ts";

export const rotateWebhookSecret = defineOperation({
  name: "webhooks.secret.rotate",
  summary: "Give the tenant a new secret, which signs for runs that name an address and bring no secret",
  http: { method: "POST", path: "/webhooks/secret/rotate", bodies: ["json"], status: 201 },
  input: z.object({ secret: ownSecret().optional(), overlap_seconds: overlap() }),
  output: WebhookSecret,
  example: { overlap_seconds: 86400 },
  answer: (input, ask) => ask.webhooks.rotateOwn(input),
});
