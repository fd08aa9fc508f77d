// What a request may say about who is told: an address that may be written to, and a secret that is sealed before anything
// else sees it.
import type { SealedSecret } from "../db/webhooks/secrets.ts";
import { Fault } from "../faults.ts";
import type { WebhookHttpClient } from "../outbound/webhook-http-client.ts";
import type { WebhookPolicy } from "../runs/services.ts";
import type { Office } from "./webhook-service.ts";

/** A redelivery is signed with the same secret, as long as there are any. */
const SECRET_RETENTION_MARGIN_DAYS = 10;

export const createWebhookPolicy = ({
  httpClient: poster,
  secretCipher: vault,
  settings,
}: Pick<Office, "httpClient" | "secretCipher" | "settings">): WebhookPolicy => ({
  checkUrl: (url) => checkWebhookUrl(poster, url),
  seal: (name, secret): SealedSecret & { keptDays: number } => ({
    ...vault.encrypt(name, secret),
    keptDays: settings.WEBHOOK_RETENTION_DAYS + SECRET_RETENTION_MARGIN_DAYS,
  }),
});

/** Throws for an address that nothing would be sent to. */
export function checkWebhookUrl(poster: Pick<WebhookHttpClient, "check">, url: string): void {
  try {
    poster.check(url);
  } catch (thrown) {
    if (thrown instanceof Fault) throw new Fault("webhook_url_not_allowed", thrown.details, { cause: thrown });
    throw thrown;
  }
}
