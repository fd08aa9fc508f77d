// Who a credential acts for, by its kind.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCallerRecord } from "../../../test/support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { Identity } from "../../contract/schemas/access.ts";
import { describeCaller } from "./get.ts";

let database: TestDatabase;
const tenant_id = v7();
beforeAll(async () => {
  database = await startTestDatabase();
  await database.owner.query("test.tenant", "insert into tenants (tenant_id, name, limits) values ($1, 'Acme', $2)", [
    tenant_id,
    { open_runs: 5 },
  ]);
});
afterAll(() => database?.stop());

const describeAs = async (about: Parameters<typeof createCallerRecord>[0]) => {
  const caller = createCallerRecord({ tenant_id, ...about });
  return Identity.parse(await describeCaller({ caller, database: database.db.forTenant(tenant_id) }));
};

describe("the identity of a credential", () => {
  it("has the tenant, the user with the role, and what the key permits", async () => {
    const [key_id, expires_at] = [v7(), new Date("2030-01-01T00:00:00Z")];
    const scopes = ["images:write"];
    const limits = { spend_per_day: 2 };
    expect(await describeAs({ user_id: "ada", role: "developer", key_id, scopes, limits, expires_at })).toEqual({
      user_id: "ada",
      role: "developer",
      tenant: { id: tenant_id, name: "Acme", limits: { open_runs: 5 }, retention_days: null },
      credential: {
        ...{ kind: "key", key_id, scopes, limits, max_spend: null, end_user: null },
        ...{ customer: null, tags: [] },
        expires_at: "2030-01-01T00:00:00.000Z",
      },
    });
  });

  it("tells access tokens from tokens of an identity provider", async () => {
    const token = { token_id: v7(), max_spend: 0.5, end_user: "visitor-1", customer: "acme", tags: ["a"] };
    expect((await describeAs({ key_id: v7(), token })).credential).toMatchObject({
      ...{ kind: "token", max_spend: 0.5, end_user: "visitor-1", customer: "acme", tags: ["a"] },
    });
    expect((await describeAs({})).credential).toMatchObject({ kind: "external_token", key_id: null });
  });

  it("tells a session of the console from the key that it came from", async () => {
    const session = { session_id: v7(), method: "key" as const, last_login_at: new Date() };
    expect((await describeAs({ key_id: v7(), session })).credential).toMatchObject({ kind: "session" });
  });

  it("is refused if the tenant was deleted in the meantime", async () => {
    await expect(describeAs({ tenant_id: v7() })).rejects.toMatchObject({ code: "invalid_api_key" });
  });
});
