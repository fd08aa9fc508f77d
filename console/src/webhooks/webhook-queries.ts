// The requests of the webhooks page. Deliveries that are not finished are read again until they are.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import type { DeliveryFilter } from "./webhooks-search.ts";

const PAGE_SIZE = 50;
const RECENT = 24;
const MAX_ENDPOINTS = 100;
const LIST_POLL_MS = 5000;
const DELIVERY_POLL_MS = 1000;

export const endpointsQuery = queryOptions({
  queryKey: ["webhooks", "endpoints"],
  queryFn: async () => (await client.webhooks.list({ limit: MAX_ENDPOINTS })).data,
});

export const deliveriesQuery = (filter: DeliveryFilter, endpoint: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ["webhooks", "deliveries", filter, endpoint],
    queryFn: async ({ pageParam }) =>
      client.webhooks.deliveries.list({
        limit: PAGE_SIZE,
        ...(filter !== "all" && { status: filter }),
        ...(endpoint && { webhook_id: endpoint }),
        ...(pageParam && { cursor: pageParam }),
      }),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    refetchInterval: LIST_POLL_MS,
  });

/** The latest deliveries of an endpoint, for its card. */
export const recentDeliveriesQuery = (endpoint: string) =>
  queryOptions({
    queryKey: ["webhooks", "deliveries", "recent", endpoint],
    queryFn: async () => (await client.webhooks.deliveries.list({ webhook_id: endpoint, limit: RECENT })).data,
    refetchInterval: LIST_POLL_MS,
  });

export const deliveryQuery = (deliveryId: string) =>
  queryOptions({
    queryKey: ["webhooks", "delivery", deliveryId],
    queryFn: async () => client.webhooks.deliveries.get(deliveryId),
    refetchInterval: ({ state }) => (state.data?.status === "pending" ? DELIVERY_POLL_MS : false),
  });
