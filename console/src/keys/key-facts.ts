// What the list says about a key: its scopes, its limits and whether it is in force.
import type { Key } from "@gesso/client";
import { formatMoney } from "../format/money.ts";
import { formatDateTime } from "../format/time-of-day.ts";
import { text } from "../text/text.ts";

const SHOWN_SCOPES = 4;
const DOLLARS: Record<string, (amount: string) => string> = {
  spend_per_month: text.keys.perMonth,
  spend_per_day: text.keys.perDay,
  spend_per_hour: text.keys.perHour,
};

export function describeScopes(scopes: readonly string[]): string {
  const words = scopes.map((scope) =>
    scope === "*" ? text.keys.allScopes : scope === "*:read" ? text.keys.readScopes : scope,
  );
  const rest = words.length - SHOWN_SCOPES;
  return rest > 0 ? `${words.slice(0, SHOWN_SCOPES).join(", ")} +${rest}` : words.join(", ");
}

/** The limits that apply, amounts first. */
export function describeLimits(limits: Key["limits"]): string[] {
  const set = Object.entries(limits).filter((entry): entry is [string, number] => typeof entry[1] === "number");
  const isAmount = ([name]: [string, number]) => DOLLARS[name] !== undefined;
  return [...set.filter(isAmount), ...set.filter((entry) => !isAmount(entry))].map(
    ([name, value]) =>
      DOLLARS[name]?.(formatMoney(value)) ?? text.keys.limit(name.replaceAll("_", " "), value.toLocaleString("en")),
  );
}

export const isInForce = ({ revoked_at, expires_at }: Pick<Key, "revoked_at" | "expires_at">, now: number): boolean =>
  revoked_at === null && (expires_at === null || Date.parse(expires_at) > now);

export function describeState(key: Key, now: number): string {
  const { states } = text.keys;
  if (key.revoked_at) return states.revoked;
  if (!key.expires_at) return states.active;
  if (!isInForce(key, now)) return states.expired;
  const until = formatDateTime(key.expires_at);
  return key.replaced_by ? states.replaced(until) : states.expires(until);
}

/** The keys in force that were created with this key, and with those, in the order of the list. */
export function findKeysBelow(keys: readonly Key[], { id }: Pick<Key, "id">, now: number): Key[] {
  const above = new Map(keys.map((key) => [key.id, key.parent_key_id]));
  const isBelow = (key: Key): boolean => {
    // A list that is loaded page by page can lack a key in between.
    for (let at: string | null | undefined = key.parent_key_id; at; at = above.get(at)) if (at === id) return true;
    return false;
  };
  return keys.filter((key) => isInForce(key, now) && isBelow(key));
}
