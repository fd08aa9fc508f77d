// The webhook of a single run: validates its URL and encrypts its secret before the run is stored.
import type { ResourceOwner } from "../../db/access/caller.ts";
import type { NewRun, RunWebhookSecret } from "../../db/runs/insert-run.ts";
import type { WebhookSecretId } from "../../db/webhooks/secrets.ts";
import { deriveId } from "../core/ids.ts";

/** Which webhook URLs are allowed and how their secrets are stored; implemented by the webhooks module. */
export type WebhookPolicy = {
  /** Throws webhook_url_not_allowed for a URL that no message would be sent to. */
  checkUrl(url: string): void;
  encryptSecret(id: WebhookSecretId, secret: string): RunWebhookSecret;
};

type RunWebhookFields = { webhook_url?: unknown; webhook_secret?: unknown };

/** A secret without a URL is ignored, because there is no message to sign. */
export function buildRunWebhook(
  policy: WebhookPolicy,
  { tenant_id, run_id }: ResourceOwner & { run_id: string },
  { webhook_url, webhook_secret }: RunWebhookFields,
): Pick<NewRun, "webhook_url" | "webhook_secret"> {
  if (typeof webhook_url !== "string") return {};
  policy.checkUrl(webhook_url);
  if (typeof webhook_secret !== "string") return { webhook_url };
  const secretId = { tenant_id, owner_id: run_id, secret_id: deriveId(run_id, "webhook_secret") };
  return { webhook_url, webhook_secret: policy.encryptSecret(secretId, webhook_secret) };
}
