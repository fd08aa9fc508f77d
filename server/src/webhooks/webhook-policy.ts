// The webhook policy of runs: which URLs are allowed, and how the secret of a run is encrypted before it is stored.
import { Fault } from "../faults/faults.ts";
import type { WebhookHttpClient } from "../outbound/webhook-http-client.ts";
import type { WebhookPolicy } from "../runs/accept/run-webhook.ts";
import type { WebhookService } from "./webhook-service.ts";

/** A secret outlives its deliveries by this margin, so that every redelivery is signed with the same secret. */
const SECRET_RETENTION_MARGIN_DAYS = 10;

export const createWebhookPolicy = ({
  httpClient,
  secretCipher,
  webhookSettings,
}: Pick<WebhookService, "httpClient" | "secretCipher" | "webhookSettings">): WebhookPolicy => ({
  checkUrl: (url) => checkWebhookUrl(httpClient, url),
  encryptSecret: (id, secret) => ({
    ...secretCipher.encrypt(id, secret),
    retentionDays: webhookSettings.WEBHOOK_RETENTION_DAYS + SECRET_RETENTION_MARGIN_DAYS,
  }),
});

/** Throws webhook_url_not_allowed for a URL that no message would be sent to. */
export function checkWebhookUrl(httpClient: Pick<WebhookHttpClient, "check">, url: string): void {
  try {
    httpClient.check(url);
  } catch (thrown) {
    if (thrown instanceof Fault) throw new Fault("webhook_url_not_allowed", thrown.details, { cause: thrown });
    throw thrown;
  }
}
