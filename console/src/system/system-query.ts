// The state of the installation, read again every 15 s while the page is open.
import { queryOptions } from "@tanstack/react-query";
import { client } from "../api/client.ts";

const POLL_MS = 15_000;

export const systemQuery = queryOptions({
  queryKey: ["system"],
  queryFn: async () => client.system.get(),
  refetchInterval: POLL_MS,
  retry: false,
});
