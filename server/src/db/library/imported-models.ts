// Imported models, and the names that stand for them. They belong to the installation, not to a tenant.
import type { PinnedModel } from "../../contract/pinned-model.ts";
import { type Actor, actorParameters } from "../access/audit-log.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

/** `call_price`: in micro-dollars; null if unknown. `tenant_ids`: the tenants that may use it; null for all. */
export type Pin = {
  name: string;
  call_price: number | null;
  document: PinnedModel;
  refused_at: Date | null;
  tenant_ids: string[] | null;
};

const FIND = statement(
  "model_pins.find",
  `select name, call_price, document, refused_at, tenant_ids from model_pins join imported_models using (model, hash) where name = :name`,
);

export async function findPin(db: Database, name: string): Promise<Pin | undefined> {
  const [row] = await db.execute(FIND, { name });
  return row;
}

/**
 * The same schema with other texts or in another version: requests are judged as before. The operator has seen that the
 * provider publishes no other schema, so an earlier refusal counts no longer.
 */
const UPDATE_TEXTS = `on conflict (model, hash) do update set title = excluded.title, category = excluded.category,
       media = excluded.media, document = excluded.document, refused_at = null
     where imported_models.document <> excluded.document or imported_models.refused_at is not null`;

const PIN = statement(
  "model_pins.insert",
  `with imported as (
     insert into imported_models (model, hash, provider, title, category, media, document, imported_by)
     values (:model, :hash, :provider, :title?, :category?, :media, :document, :actor_user_id)
     ${UPDATE_TEXTS}
   ), pinned as (
     insert into model_pins (name, model, hash, call_price, tenant_ids)
     select name, :model, :hash, :call_price?, :tenant_ids?::uuid[] from unnest(:names::text[]) as name
     on conflict (name) do update set model = excluded.model, hash = excluded.hash, pinned_at = now(),
       call_price = coalesce(excluded.call_price, model_pins.call_price),
       tenant_ids = case when :keeps_tenants then model_pins.tenant_ids else excluded.tenant_ids end
     returning name, call_price, tenant_ids
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :actor_tenant_id, :actor_user_id, :actor_key_id?::uuid, 'system.importModel', :model,
       jsonb_build_object('hash', :hash::text, 'names', to_jsonb(:names::text[]), 'call_price', :call_price?::bigint)
         || case when :keeps_tenants then '{}' else jsonb_build_object('tenant_ids', to_jsonb(:tenant_ids?::uuid[])) end
   )
   select name, call_price, tenant_ids from pinned`,
);

/** `tenant_ids`: null for all tenants. */
export type NewPin = {
  document: PinnedModel;
  names: string[];
  call_price: number | null;
  tenant_ids: string[] | null | undefined;
};

/**
 * Imports the model, if this schema is not known yet, and lets the names stand for it. Without a price or tenants, a
 * name keeps those that it has. Returns the price and the tenants of each name.
 */
export async function insertPins(db: Database, actor: Actor, { document, names, call_price, tenant_ids }: NewPin) {
  const { model, hash, provider, title, category } = document;
  return db.execute(PIN, {
    ...{ model, hash, provider, title, category, media: mediaOf(document), document, names, call_price },
    ...{ tenant_ids, keeps_tenants: tenant_ids === undefined },
    ...{ ...actorParameters(actor), actor_tenant_id: actor.tenant_id },
  });
}

const PIN_OWN = statement(
  "model_pins.insert_own",
  `with imported as (
     insert into imported_models (model, hash, provider, title, category, media, document, imported_by)
     values (:model, :hash, :provider, :title?, :category?, :media, :document, 'gesso')
     ${UPDATE_TEXTS}
   )
   insert into model_pins (name, model, hash, call_price) values (:model, :model, :hash, 0)
   on conflict (name) do update set hash = excluded.hash, pinned_at = now() where model_pins.hash <> excluded.hash`,
);

/** A model that comes with its provider, for nothing. What the operator named, such as a price, stays. */
export async function insertOwnPin(db: Database, document: PinnedModel): Promise<void> {
  const { model, hash, provider, title, category } = document;
  await db.execute(PIN_OWN, { model, hash, provider, title, category, media: mediaOf(document), document });
}

const mediaOf = ({ media }: PinnedModel) => [...new Set(media.output.map(({ kind }) => kind))];

const DELETE = statement(
  "model_pins.delete",
  `with deleted as (
     delete from model_pins where name = :name returning name, model, hash
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :actor_tenant_id, :actor_user_id, :actor_key_id?::uuid, 'system.removeModel', name,
       jsonb_build_object('model', model, 'hash', hash)
     from deleted
   )
   select name from deleted`,
);

/** The schema stays: runs refer to it. Returns whether the name stood for a model. */
export async function deletePin(db: Database, actor: Actor, name: string): Promise<boolean> {
  const parameters = { ...actorParameters(actor), actor_tenant_id: actor.tenant_id, name };
  return (await db.execute(DELETE, parameters)).length > 0;
}

/**
 * The filters are cases, because PostgreSQL expects next to no rows of several `is null or`: it then looked up each of
 * thousands of models in an index instead of joining the tables once.
 */
const LIST = statement(
  "model_pins.list",
  `select name, model, hash, provider, title, category, media, call_price, pinned_at, refused_at,
     tenant_ids
   from model_pins join imported_models using (model, hash)
   where case when :provider?::text is null then true else provider = :provider? end
     and case when :media?::text is null then true else media @> array[:media?::text] end
     and case when :query?::text is null then true
       else strpos(lower(concat_ws(' ', name, title, category)), lower(:query?)) > 0 end
     and case when :after?::text is null then true else name > :after? end
     and case when :tenant_id?::uuid is null then true
       else tenant_ids is null or :tenant_id?::uuid = any(tenant_ids) end
   order by name limit :limit`,
);

/** Without a tenant, those of all tenants. */
export type PinFilter = {
  tenant_id: string | undefined;
  query?: string | undefined;
  provider?: string | undefined;
  media?: string | undefined;
  after: string | undefined;
  limit: number;
};

export const listPins = (db: Database, { tenant_id, query, provider, media, after, limit }: PinFilter) =>
  db.execute(LIST, { tenant_id, query, provider, media, after, limit });

/** A run that was accepted before its model was last imported says nothing about that import. */
const MARK_REFUSED = statement(
  "imported_models.mark_refused",
  `update imported_models as imported set refused_at = now()
   from runs
   where runs.run_id = :run_id and runs.tenant_id = :tenant_id
     and imported.model = runs.model and imported.hash = runs.schema_hash and imported.refused_at is null
     and exists (
       select from model_pins as pin
       where pin.model = imported.model and pin.hash = imported.hash and pin.pinned_at <= runs.created_at
     )`,
);

/** The provider has refused the input of the run, which the imported schema allows. Idempotent. */
export async function markRefusedModel(db: Database, run: { run_id: string; tenant_id: string }): Promise<void> {
  await db.execute(MARK_REFUSED, { run_id: run.run_id, tenant_id: run.tenant_id });
}

/** The dearest part of a check is a request for each model. */
const LIST_CHECKED = statement(
  "model_pins.list_checked",
  `select name, model, hash, provider, document ->> 'upstream' as upstream, refused_at
   from model_pins join imported_models using (model, hash) order by refused_at nulls last, name limit 500`,
).columns<{ upstream: string }>();

/** The names with what tells whether their schemas are still right, refused ones first. */
export const listCheckedPins = (db: Database) => db.execute(LIST_CHECKED);

const LIST_NAMES = statement(
  "model_pins.list_names",
  `select name from model_pins
   where :tenant_id?::uuid is null or tenant_ids is null or :tenant_id?::uuid = any(tenant_ids)
   order by name limit 5000`,
);

/** The names that the tenant may use; all of them without a tenant. */
export const listPinNames = async (db: Database, tenantId: string | undefined): Promise<string[]> =>
  (await db.execute(LIST_NAMES, { tenant_id: tenantId })).map(({ name }) => name);
