// Fills a database with the history of an installation that has run for `days` days: ended runs with everything that
// belongs to them. A table that is partitioned by time gets a partition for each of these days.
import type pg from "pg";

export type HistoryOptions = { days: number; runsPerDay: number };

const TENANT_ID = "00000000-0000-7000-8000-000000000001";

/** `client` is connected as the owner of the tables. */
export async function insertHistory(client: pg.ClientBase, { days, runsPerDay }: HistoryOptions): Promise<void> {
  await createDailyPartitions(client, days);
  await client.query("begin");
  await client.query(
    `create temporary table past_runs as
       select (left(uuid_floor(at)::text, 15) || substr(gen_random_uuid()::text, 16))::uuid as run_id, at
       from (select now() - make_interval(days => day, secs => number * 86000.0 / $2) as at
         from generate_series(1, $1::int) as day, generate_series(0, $2::int - 1) as number) as times order by at`,
    [days, runsPerDay],
  );
  for (const text of INSERTS) await client.query(text);
  await client.query("drop table past_runs");
  await client.query("commit");
  await client.query("analyze");
}

const INSERTS = [
  `insert into runs (run_id, tenant_id, user_id, operation, run_type, status, progress, root_run_id, inputs, plan,
     result, cost, created_at, started_at, finished_at)
   select run_id, '${TENANT_ID}', 'user', 'images.generate', 'image-generation', 'completed', 1, run_id, '{}', '[]',
     '{"outputs": []}', '{"amount": 0.04, "currency": "USD"}', at, at, at from past_runs`,
  // Their files have expired long ago.
  "delete from expiring_runs where run_id in (select run_id from past_runs)",
  `insert into planned_requests (run_id, request_index, provider, model, upstream, output, finished_at)
   select run_id, 0, 'sandbox', 'flux-dev', 'flux-dev', '{"files": []}', at from past_runs`,
  `insert into attempts (run_id, request_index, attempt_number, idempotency_key, epoch, provider, upstream, state,
     created_at, finished_at)
   select run_id, 0, 1, run_id || '.0.1', 0, 'sandbox', 'flux-dev', 'succeeded', at, at from past_runs`,
  `insert into assets (asset_id, run_id, tenant_id, role, storage_key, media_type, width, height, size_bytes, sha256,
     created_at, deleted_at)
   select run_id, run_id, '${TENANT_ID}', 'output', run_id::text, 'image/png', 64, 64, 100, 'x', at, at from past_runs`,
  `insert into events (run_id, event_id, tenant_id, type, terminal, created_at)
   select run_id, gen_random_uuid(), '${TENANT_ID}', type, type = 'run.completed', at
   from past_runs, unnest(array['run.queued', 'run.processing', 'run.completed']) as type order by at`,
  `insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount, created_at)
   select run_id, kind, '${TENANT_ID}', from_account, to_account, 40000, at
   from past_runs, (values ('reserve', 'credit', 'reserved'), ('settle', 'reserved', 'spent'))
     as moves (kind, from_account, to_account)`,
  `insert into webhook_deliveries (delivery_id, tenant_id, event_id, run_id, type, url, body, status, created_at,
     finished_at)
   select run_id, '${TENANT_ID}', run_id, run_id, 'run.completed', 'https://example.com/hook', '{}', 'delivered', at, at
   from past_runs`,
  `insert into webhook_attempts (delivery_id, attempt, tenant_id, started_at, duration_ms, status)
   select run_id, 1, '${TENANT_ID}', at, 10, 200 from past_runs`,
];

/** Of every table that is partitioned by a range of ids, if the day has no partition yet. */
async function createDailyPartitions(client: pg.ClientBase, days: number): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select partrelid::regclass::text as name from pg_partitioned_table where partstrat = 'r'",
  );
  for (const { name } of rows) {
    await client.query(`do $$ declare day date; begin
      for day in select generate_series(current_date - ${days}, current_date, interval '1 day') loop
        if to_regclass(format('${name}_%s', to_char(day, 'YYYYMMDD'))) is null then
          execute format('create table %I partition of ${name} for values from (%L) to (%L)',
            format('${name}_%s', to_char(day, 'YYYYMMDD')),
            uuid_floor(day::timestamp at time zone 'UTC'), uuid_floor((day + 1)::timestamp at time zone 'UTC'));
        end if;
      end loop; end $$`);
  }
}
