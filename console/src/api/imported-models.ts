// Imported models, which runs.create runs with their own parameters: the search, one model, and the import of another.
import type { CatalogueListModelsInput, ImportedModel, SystemImportModelInput } from "@gesso/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { client } from "./client.ts";

const SHOWN_MODELS = 50;

export type ModelFilter = Pick<CatalogueListModelsInput, "q" | "media">;

const LIST_KEY = ["catalogue", "models"];

export const importedModelsQuery = (filter: ModelFilter) =>
  queryOptions({
    queryKey: [...LIST_KEY, filter],
    queryFn: async () => client.catalogue.listModels({ ...filter, limit: SHOWN_MODELS }),
    placeholderData: keepPreviousData,
  });

export const importedModelQuery = (name: string) =>
  queryOptions({
    queryKey: ["catalogue", "model", name],
    queryFn: async () => client.catalogue.getModel(name),
    retry: false,
  });

/** Sends the request once: the provider is asked meanwhile, which takes a moment. */
export const importModel = async (input: SystemImportModelInput): Promise<ImportedModel> =>
  client.system.importModel(input, { maxRetries: 0 });

export const IMPORTED_MODELS_KEY = LIST_KEY;
