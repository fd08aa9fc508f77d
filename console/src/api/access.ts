// Queries of the pages that manage access: keys, sessions, members and the audit log.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { client } from "./client.ts";
import { fetchSessions } from "./session.ts";

const PAGE_SIZE = 100;
type Page = { next_cursor: string | null };
const paging = {
  initialPageParam: "",
  getNextPageParam: ({ next_cursor }: Page) => next_cursor ?? undefined,
};
const pageOf = (cursor: string) => ({ limit: PAGE_SIZE, ...(cursor && { cursor }) });

export const keysQuery = infiniteQueryOptions({
  ...paging,
  queryKey: ["keys"],
  queryFn: async ({ pageParam }) => client.keys.list(pageOf(pageParam)),
});

export const membersQuery = infiniteQueryOptions({
  ...paging,
  queryKey: ["members"],
  queryFn: async ({ pageParam }) => client.members.list(pageOf(pageParam)),
});

export const auditQuery = infiniteQueryOptions({
  ...paging,
  queryKey: ["audit"],
  queryFn: async ({ pageParam }) => client.audit.list(pageOf(pageParam)),
  // The log changes with everything that the page does.
  staleTime: 0,
});

export const sessionsQuery = queryOptions({ queryKey: ["sessions"], queryFn: fetchSessions });
