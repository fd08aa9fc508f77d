// What a request may say about who is told: an address that may be written to, and a secret that is sealed before anything
// else sees it.
import type { SealedSecret } from "../db/webhook-secrets.ts";
import { Fault } from "../faults.ts";
import type { Poster } from "../media/post.ts";
import type { WebhookDoor } from "../runs/house.ts";
import type { Office } from "./office.ts";

/** A redelivery is signed with the same secret, as long as there are any. */
const MARGIN_DAYS = 10;

export const createDoor = ({
  poster,
  vault,
  settings,
}: Pick<Office, "poster" | "vault" | "settings">): WebhookDoor => ({
  check: (url) => checkAddress(poster, url),
  seal: (name, secret): SealedSecret & { keptDays: number } => ({
    ...vault.seal(name, secret),
    keptDays: settings.WEBHOOK_RETENTION_DAYS + MARGIN_DAYS,
  }),
});

/** Throws for an address that nothing would be sent to. */
export function checkAddress(poster: Pick<Poster, "check">, url: string): void {
  try {
    poster.check(url);
  } catch (thrown) {
    if (thrown instanceof Fault) throw new Fault("webhook_url_not_allowed", thrown.details, { cause: thrown });
    throw thrown;
  }
}
