// Imported models for callers and for the operator: the list, one model with its schemas, and the import of a model
// from what its provider publishes.
import { paginate } from "../access/pagination.ts";
import type { RequestContext } from "../access/request-context.ts";
import { mayCall } from "../access/scopes.ts";
import type { ImportedModel } from "../contract/operation.ts";
import type { PinnedModel } from "../contract/pinned-model.ts";
import type { ImportedModelDetails, ImportedModelSummary } from "../contract/schemas/imported-models.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import type { Caller } from "../db/access/caller.ts";
import { findUnknownTenant } from "../db/access/tenants.ts";
import type { Database } from "../db/connect.ts";
import {
  deletePin,
  findPin,
  insertOwnPin,
  insertPins,
  listPins,
  type PinFilter,
} from "../db/library/imported-models.ts";
import { Fault } from "../faults/faults.ts";
import { importModel } from "../models/import-model.ts";
import { readProviderFailure } from "../providers/call-provider.ts";
import type { EnabledProvider } from "../providers/provider.ts";
import type { ImportedModels } from "../runs/accept/imported-models.ts";
import type { ProviderRegistry } from "../runs/offers/provider-registry.ts";

export type ModelDependencies = { importedModels: ImportedModels };
export type ImportDependencies = ModelDependencies & {
  providers: Pick<ProviderRegistry, "enabled">;
  /** Reads what the provider publishes about a model, with free requests. */
  describeModel(enabled: EnabledProvider, path: string): Promise<unknown>;
};

const MICRODOLLARS_PER_DOLLAR = 1_000_000;
type Filter = Pick<PinFilter, "query" | "provider" | "media">;

/** The operator sees the models of all tenants, and which tenants may use them. */
const isOperator = (caller: Caller) => mayCall(caller, { name: "system.importModel", http: { method: "POST" } });
const tenantOf = (caller: Caller) => (isOperator(caller) ? undefined : caller.tenant_id);

export function listImportedModels(
  { database, cursors, caller }: Pick<RequestContext, "database" | "cursors" | "caller">,
  { limit, cursor, ...filter }: Filter & { limit: number; cursor?: string | undefined },
) {
  const tenant_id = tenantOf(caller);
  return paginate(
    cursors,
    { limit, cursor },
    {
      scope: ["imported-models", { ...filter, tenant_id }],
      read: (after, limit) => listPins(database, { ...filter, tenant_id, after, limit }),
      cursorId: ({ name }) => name,
      render: ({
        name,
        model,
        hash,
        provider,
        title,
        category,
        media,
        call_price,
        refused_at,
        tenant_ids,
      }): ImportedModelSummary => ({
        ...{ name, model, provider, title, category, media, schema_hash: hash },
        refused_at: refused_at?.toISOString() ?? null,
        price: call_price === null ? null : call_price / MICRODOLLARS_PER_DOLLAR,
        ...(tenant_id === undefined && { tenant_ids }),
      }),
    },
  );
}

export async function getImportedModel(
  { importedModels }: ModelDependencies,
  { database, caller }: Pick<RequestContext, "database" | "caller">,
  name: string,
): Promise<ImportedModelDetails> {
  const model = await importedModels.require(name, tenantOf(caller));
  const pin = await findPin(database, name);
  const tenant_ids = isOperator(caller) ? (pin?.tenant_ids ?? null) : undefined;
  return render(name, model, { refused_at: pin?.refused_at ?? null, tenant_ids });
}

/** `tenant_ids`: undefined unless the operator asks. */
type PinState = { refused_at: Date | null; tenant_ids: string[] | null | undefined };

const render = (name: string, model: ImportedModel, { refused_at, tenant_ids }: PinState): ImportedModelDetails => ({
  ...{ name, model: model.model, provider: model.provider, title: model.title, category: model.category },
  media: [...new Set(model.media.output.map(({ kind }) => kind))],
  ...{ price: model.call_price, schema_hash: model.hash, version: model.version },
  refused_at: refused_at?.toISOString() ?? null,
  ...{ input: model.input, output: model.output, files: model.media, order: model.order },
  example: exampleOf(model),
  ...(tenant_ids !== undefined && { tenant_ids }),
});

/** The required fields, as far as the schema says what to write there. */
function exampleOf({ input, order }: PinnedModel): JsonObject {
  const properties = (input.properties ?? {}) as Record<string, JsonObject>;
  const required = (input.required ?? []) as string[];
  const sampleOf = ({ examples, example, default: byDefault, enum: values, type }: JsonObject): unknown =>
    [examples].flat()[0] ?? example ?? byDefault ?? [values].flat()[0] ?? (type === "string" ? "…" : undefined);
  return Object.fromEntries(
    order
      .filter((name) => required.includes(name) && properties[name])
      .map((name) => [name, sampleOf(properties[name]!)] as const)
      .filter(([, value]) => value !== undefined),
  );
}

type ImportRequest = {
  model: string;
  aliases: string[];
  price?: number | undefined;
  document?: JsonObject | undefined;
  tenant_ids?: string[] | null | undefined;
};

export async function addImportedModel(
  services: ImportDependencies,
  { database, caller }: Pick<RequestContext, "database" | "caller">,
  { model: name, aliases, price, document, tenant_ids }: ImportRequest,
): Promise<ImportedModelDetails> {
  const unknown = tenant_ids ? await findUnknownTenant(database, tenant_ids) : undefined;
  if (unknown) throw invalid("/tenant_ids", "unknown_value", `There is no tenant ${unknown}.`);
  const at = name.indexOf(":");
  const [provider, path] = [name.slice(0, at), name.slice(at + 1)];
  const imported = importModel(provider, path, document ?? (await describe(services, { provider, path })));
  if ("refused" in imported) throw invalid("/model", "invalid_value", imported.refused);
  const isFree = services.providers.enabled.some(
    (each) => each.provider.id === provider && each.provider.anyModel?.isFree,
  );
  const dollars = price ?? (isFree ? 0 : undefined);
  const call_price = dollars === undefined ? null : Math.round(dollars * MICRODOLLARS_PER_DOLLAR);
  const pin = { document: imported.model, names: [name, ...aliases], call_price, tenant_ids };
  const pins = await insertPins(database, caller, pin);
  services.importedModels.forget();
  const own = pins.find((each) => each.name === name)!;
  const dollarsOfCall = own.call_price === null ? null : own.call_price / MICRODOLLARS_PER_DOLLAR;
  const state = { refused_at: null, tenant_ids: own.tenant_ids };
  return render(name, { ...imported.model, call_price: dollarsOfCall }, state);
}

async function describe(
  { providers, describeModel }: ImportDependencies,
  { provider: id, path }: { provider: string; path: string },
): Promise<unknown> {
  const enabled = providers.enabled.find(({ provider }) => provider.id === id && provider.anyModel);
  if (!enabled)
    throw invalid(
      "/model",
      "unknown_value",
      `${id} is not connected, or cannot run any model. Connect it, or send what it publishes about the model as \`document\`.`,
    );
  return describeModel(enabled, path).catch((thrown) => {
    const { status } = readProviderFailure(thrown);
    if (status !== undefined && status >= 400 && status < 500 && ![401, 403, 429].includes(status))
      throw invalid("/model", "unknown_value", `${id} has no model ${path}.`);
    throw thrown;
  });
}

/** Imports the models that come with the enabled providers. Idempotent: every process does it at its start. */
export async function importOwnModels({
  database,
  providers,
  describeModel,
}: Omit<ImportDependencies, "importedModels"> & { database: Database }): Promise<void> {
  for (const enabled of providers.enabled) {
    const { id, anyModel } = enabled.provider;
    for (const path of anyModel?.own ?? []) {
      const imported = importModel(id, path, await describeModel(enabled, path));
      if ("refused" in imported) throw new Error(`${id}:${path}: ${imported.refused}`);
      await insertOwnPin(database, imported.model);
    }
  }
}

export async function removeImportedModel(
  { importedModels }: ModelDependencies,
  { database, caller }: Pick<RequestContext, "database" | "caller">,
  name: string,
): Promise<void> {
  await importedModels.require(name, tenantOf(caller));
  await deletePin(database, caller, name);
  importedModels.forget();
}

const invalid = (path: string, code: string, message: string): Fault =>
  new Fault("validation_error", { errors: [{ path, code, message }] });
