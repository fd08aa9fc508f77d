// The holders of spending limits that are no credentials: customers, end users and tags. Their IDs follow from their
// values, so that a run names its holders without a look-up.
import { createHash } from "node:crypto";

export const ATTRIBUTION_KINDS = ["customer", "end_user", "tag"] as const;
export type AttributionKind = (typeof ATTRIBUTION_KINDS)[number];

/** What the cost of a run counts for, beside its tenant and key. */
export type AttributedCost = {
  customer?: string | null | undefined;
  end_user?: string | null | undefined;
  cost_tags?: string[] | null | undefined;
};

/** The value of a limit that every value of its kind gets that has none of its own. */
export const EVERY_VALUE = "*";

export type AttributedHolder = { kind: AttributionKind; value: string; holder_id: string };

/** A UUID of version 8: made from a digest, and different from the ID of every key and token, which has version 7. */
export function attributedHolderId(kind: AttributionKind, value: string): string {
  const bytes = createHash("sha256")
    .update(JSON.stringify(["budget", kind, value]))
    .digest()
    .subarray(0, 16);
  bytes[6] = 0x80 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const toHolder = (kind: AttributionKind, value: string): AttributedHolder => ({
  ...{ kind, value },
  holder_id: attributedHolderId(kind, value),
});

export const attributedHolders = ({ customer, end_user, cost_tags }: AttributedCost): AttributedHolder[] => [
  ...(customer ? [toHolder("customer", customer)] : []),
  ...(end_user ? [toHolder("end_user", end_user)] : []),
  ...(cost_tags ?? []).map((tag) => toHolder("tag", tag)),
];

/** The holders whose limit every value of their kind gets. Tags have none: one run can have twenty. */
const TEMPLATES = { customer: toHolder("customer", EVERY_VALUE), end_user: toHolder("end_user", EVERY_VALUE) };

export const templateOf = (kind: AttributionKind): string | undefined =>
  kind === "tag" ? undefined : TEMPLATES[kind].holder_id;
