// The requests of the tenants page.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { client } from "../api/client.ts";

const PAGE_SIZE = 50;

export const tenantsQuery = infiniteQueryOptions({
  queryKey: ["tenants", "list"],
  queryFn: async ({ pageParam }) => client.tenants.list({ limit: PAGE_SIZE, ...(pageParam && { cursor: pageParam }) }),
  initialPageParam: "",
  getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
});

export const tenantQuery = (tenantId: string) =>
  queryOptions({ queryKey: ["tenants", tenantId], queryFn: async () => client.tenants.get(tenantId) });

export const tenantUsageQuery = (tenantId: string) =>
  queryOptions({ queryKey: ["tenants", tenantId, "usage"], queryFn: async () => client.tenants.usage(tenantId) });
