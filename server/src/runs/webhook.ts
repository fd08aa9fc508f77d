// Who is told of the end of a run: an address that may be written to, and with it a secret that is sealed from here on.
import type { NewRun, Owner } from "../db/runs.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";

type Wish = { webhook_url?: unknown; webhook_secret?: unknown };

/** A secret without an address signs nothing, and is not kept. */
export function webhookOf(
  { webhooks }: Pick<House, "webhooks">,
  { tenant_id, run_id }: Owner & { run_id: string },
  { webhook_url, webhook_secret }: Wish,
): Pick<NewRun, "webhook_url" | "webhook_secret"> {
  if (typeof webhook_url !== "string") return {};
  webhooks.check(webhook_url);
  if (typeof webhook_secret !== "string") return { webhook_url };
  const name = { tenant_id, owner_id: run_id, secret_id: idWithin(run_id, "webhook_secret") };
  return { webhook_url, webhook_secret: webhooks.seal(name, webhook_secret) };
}
