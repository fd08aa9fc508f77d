// The deliveries of a run's webhooks. They are read again while one of them waits for its next attempt.
import type { Run, WebhookDelivery } from "@gesso/client";
import { queryOptions } from "@tanstack/react-query";
import { client } from "../api/client.ts";

const READ_AGAIN_MS = 3000;

export const runDeliveriesQuery = ({ run_id, status }: Pick<Run, "run_id" | "status">) =>
  queryOptions({
    queryKey: ["runs", run_id, "deliveries", status],
    queryFn: async (): Promise<WebhookDelivery[]> => {
      const { data } = await client.webhooks.deliveries.list({ run_id, limit: 100 });
      return data.toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1));
    },
    refetchInterval: ({ state }) => (state.data?.some(isWaiting) ? READ_AGAIN_MS : false),
  });

const isWaiting = ({ status }: WebhookDelivery) => status === "pending";
