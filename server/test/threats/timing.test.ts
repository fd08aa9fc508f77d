// Response times reveal neither whether a key exists, nor whether another tenant has an ID: the same statements are
// executed, and their times do not differ.
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { generateApiKey, hashApiKey } from "../../src/access/api-key.ts";
import { createApiKeyLookup } from "../../src/access/api-key-lookup.ts";
import { createAuthenticator } from "../../src/access/authentication.ts";
import { createUnknownKeyLimit } from "../../src/access/limits/unknown-key-limit.ts";
import type { Database } from "../../src/db/connect.ts";
import { findRun } from "../../src/db/runs/runs.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import { startTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { MAX_T, sampleTimes, welchT } from "../support/timing-difference.ts";

const SAMPLES = 500;
const random = createSeededRandom(20_261_116);
const [own, foreign] = [v7(), v7()];
let database: TestDatabase;
/** The names of the statements that were executed since it was emptied. */
let executed: string[] = [];

/** The same database, with a record of what is executed. */
const recorded = (db: Database): Database => ({
  ...db,
  forTenant: (tenant) => recorded(db.forTenant(tenant)),
  execute: (statement, ...values) => {
    executed.push(statement.name);
    return db.execute(statement, ...values);
  },
});
const statementsOf = async (action: () => Promise<unknown>) => {
  executed = [];
  await action();
  return executed;
};

beforeAll(async () => {
  database = await startTestDatabase();
  for (const tenant of [own, foreign])
    await database.owner.query("tenant", "insert into tenants (tenant_id, name) values ($1, 'x')", [tenant]);
});
afterAll(() => database?.stop());

async function insertKeys(column: "revoked_at" | "expires_at"): Promise<string[]> {
  const keys = Array.from({ length: SAMPLES }, generateApiKey);
  await database.owner.query(
    "member",
    "insert into members (tenant_id, user_id, role) values ($1, 'u', 'owner') on conflict do nothing",
    [own],
  );
  await database.owner.query(
    `keys ${column}`,
    `insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes, limits, ${column})
     select key_id, $1, 'u', 'x', digest, 'abcd', '{*}', '{}', now() - interval '1 day'
     from unnest($2::uuid[], $3::bytea[]) as given (key_id, digest)`,
    [own, keys.map(() => v7()), keys.map(hashApiKey)],
  );
  return keys;
}

it("a difference of a tenth in time is noticed, and none where there is none", () => {
  const noise = () => 1 + random(1000) / 2000 + (random(20) === 0 ? random(50) : 0);
  const times = (extra: number) => Array.from({ length: SAMPLES }, () => noise() + extra);
  expect(welchT(times(0), times(0.1))).toBeGreaterThan(MAX_T);
  expect(welchT(times(0), times(0))).toBeLessThan(MAX_T);
});

it("unknown, revoked and expired keys execute the same statement and take the same time", async () => {
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const authenticator = createAuthenticator({
    ...{ accessTokens: {} as never, issuers: {} as never },
    keys: createApiKeyLookup(recorded(database.db), clock),
    unknownKeys: createUnknownKeyLimit(0, clock),
  });
  const classes = [
    Array.from({ length: SAMPLES }, generateApiKey),
    await insertKeys("revoked_at"),
    await insertKeys("expires_at"),
  ];
  const attempt = (key: string) =>
    authenticator
      .authenticate({ headers: new Headers({ "x-api-key": key }), url: "/api/v1/runs", address: "203.0.113.9" })
      .then(
        () => "accepted",
        (thrown) => thrown.code,
      );
  // A comparison of unequal lengths must not fail.
  for (const length of [1, 32, 49, 51, 4000]) expect(await attempt("a".repeat(length))).toBe("invalid_api_key");
  for (const keys of classes) {
    const key = keys.pop()!;
    expect(await statementsOf(async () => expect(await attempt(key)).toBe("invalid_api_key"))).toEqual([
      "keys.find_holder",
    ]);
  }
  const operations = classes.map((keys) => (sample: number) => attempt(keys[sample]!));
  const [unknown, revoked, expired] = await sampleTimes(operations, { samples: SAMPLES - 1, random });
  const found = { revoked: welchT(unknown!, revoked!), expired: welchT(unknown!, expired!) };
  console.log(`Welch's t against unknown keys: ${JSON.stringify(found)}`);
  expect(Math.max(...Object.values(found))).toBeLessThan(MAX_T);
});

it("another tenant's run and an unknown one execute the same statement and take the same time", async () => {
  const runs = Array.from({ length: 50 }, () => v7());
  await database.owner.query(
    "runs",
    `insert into runs (run_id, tenant_id, user_id, operation, run_type, inputs, plan, root_run_id, depth, status,
       progress, result, started_at, finished_at, model)
     select run_id, $1, 'u', 'images.edit', 'image-edit', '{}', '[]', run_id, 1, 'completed', 1, '{"outputs": []}',
       now(), now(), 'flux-dev'
     from unnest($2::uuid[]) as given (run_id)`,
    [foreign, runs],
  );
  const unknown = runs.map(() => v7());
  const db = recorded(database.db).forTenant(own);
  expect(await findRun(database.db.forTenant(foreign), foreign, runs[0]!)).toMatchObject({ run_id: runs[0] });
  for (const [id] of [runs, unknown])
    expect(await statementsOf(async () => expect(await findRun(db, own, id!)).toBeUndefined())).toEqual(["runs.find"]);
  const operations = [runs, unknown].map((ids) => (sample: number) => findRun(db, own, ids[sample % ids.length]!));
  const [foreignTimes, unknownTimes] = await sampleTimes(operations, { samples: SAMPLES, random });
  const t = welchT(foreignTimes!, unknownTimes!);
  console.log(`Welch's t of another tenant's runs against unknown ones: ${t}`);
  expect(t).toBeLessThan(MAX_T);
});
