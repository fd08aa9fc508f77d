// Keys and functions of the queries that several pages share.
import type { Run } from "@gesso/client";
import { queryOptions } from "@tanstack/react-query";
import { client } from "./client.ts";
import { fetchConfig, fetchSession } from "./session.ts";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: fetchSession,
  staleTime: Number.POSITIVE_INFINITY,
});

export const configQuery = queryOptions({
  queryKey: ["config"],
  queryFn: fetchConfig,
  staleTime: Number.POSITIVE_INFINITY,
});

export const identityQuery = queryOptions({
  queryKey: ["me"],
  queryFn: async () => client.me.get(),
});

/** What the tenant spent since the first day of the month, in UTC as the limits are. */
export const monthSpendQuery = queryOptions({
  queryKey: ["usage", "month"],
  queryFn: async () => {
    const from = `${new Date().toISOString().slice(0, 7)}-01`;
    return (await client.usage.get({ from })).total.amount;
  },
});

export const catalogueQuery = queryOptions({
  queryKey: ["catalogue"],
  queryFn: async () => client.catalogue.get(),
});

export const runQuery = (runId: string) =>
  queryOptions({ queryKey: ["runs", runId], queryFn: async () => client.runs.get(runId) });

export const runTreeQuery = (runId: string) =>
  queryOptions({ queryKey: ["runs", runId, "tree"], queryFn: async () => client.runs.tree(runId) });

export const runLayersQuery = (runId: string) =>
  queryOptions({ queryKey: ["runs", runId, "layers"], queryFn: async () => client.edit.getLayers(runId) });

/** A run that has ended gets no further outputs, but its files can be deleted. */
export const runProvenanceQuery = ({ run_id, status }: Pick<Run, "run_id" | "status">) =>
  queryOptions({
    queryKey: ["runs", run_id, "provenance", status],
    queryFn: async () => client.runs.provenance(run_id),
  });

export const runLedgerQuery = (runId: string) =>
  queryOptions({ queryKey: ["runs", runId, "ledger"], queryFn: async () => client.runs.ledger(runId) });
