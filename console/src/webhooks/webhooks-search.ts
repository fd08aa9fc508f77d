// What the webhooks page shows, in its URL: the state of deliveries, one endpoint, and the selected delivery.
export const DELIVERY_FILTERS = ["all", "pending", "exhausted", "delivered"] as const;
export type DeliveryFilter = (typeof DELIVERY_FILTERS)[number];

export type WebhooksSearch = { status?: DeliveryFilter; endpoint?: string; delivery?: string };

const ID = /^[0-9a-f-]{36}$/;

export function parseWebhooksSearch(search: Record<string, unknown>): WebhooksSearch {
  const status = DELIVERY_FILTERS.find((each) => each === search.status);
  const id = (value: unknown) => (typeof value === "string" && ID.test(value) ? value : undefined);
  const [endpoint, delivery] = [id(search.endpoint), id(search.delivery)];
  return { ...(status && { status }), ...(endpoint && { endpoint }), ...(delivery && { delivery }) };
}
