// Queries of the Models page: custom models, their grants, and runs that show what each model makes.
import { queryOptions } from "@tanstack/react-query";
import { client } from "./client.ts";

const MOST_MODELS = 500;
const PREVIEW_RUNS = 100;

/** The newest runs with a result, whose images show what each model makes. */
export const previewRunsQuery = queryOptions({
  queryKey: ["runs", "list", "previews"],
  queryFn: async () => client.runs.list({ status: "completed", limit: PREVIEW_RUNS }),
});

export const customModelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: async () => {
    const list = (input: Parameters<typeof client.models.list>[0]) =>
      client.models.list({ ...input, limit: 100 }).toArray({ limit: MOST_MODELS });
    const [active, disabled, granted] = await Promise.all([
      list({ status: "active" }),
      list({ status: "disabled" }),
      list({ granted: true }),
    ]);
    return { own: [...active, ...disabled], granted };
  },
});

export const modelGrantsQuery = (modelId: string) =>
  queryOptions({
    queryKey: ["models", modelId, "grants"],
    queryFn: async () => client.models.grants.list(modelId, { limit: 100 }).toArray({ limit: MOST_MODELS }),
  });
