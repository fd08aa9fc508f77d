// Who is told of the end of a run: an address that may be written to, and with it a secret that is sealed from here on.
import type { NewRun, ResourceOwner } from "../db/runs/runs.ts";
import { deriveId } from "./ids.ts";
import type { Services } from "./services.ts";

type RunWebhookFields = { webhook_url?: unknown; webhook_secret?: unknown };

/** A secret without an address signs nothing, and is not kept. */
export function buildRunWebhook(
  { webhooks }: Pick<Services, "webhooks">,
  { tenant_id, run_id }: ResourceOwner & { run_id: string },
  { webhook_url, webhook_secret }: RunWebhookFields,
): Pick<NewRun, "webhook_url" | "webhook_secret"> {
  if (typeof webhook_url !== "string") return {};
  webhooks.checkUrl(webhook_url);
  if (typeof webhook_secret !== "string") return { webhook_url };
  const secretId = { tenant_id, owner_id: run_id, secret_id: deriveId(run_id, "webhook_secret") };
  return { webhook_url, webhook_secret: webhooks.seal(secretId, webhook_secret) };
}
