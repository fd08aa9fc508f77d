// What an attacker with full control of the database can do to the audit log, and what the check reports.
import { createHash } from "node:crypto";
import { v7 } from "uuid";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { findTamperedAuditEntries } from "./audit-log.ts";
import { type AuditSeal, createAuditSeal } from "./audit-seal.ts";
import { createKeyDerivation } from "./derive-keys.ts";

const [OLD, NEW] = ["the old secret which is long enough", "the new secret which is long enough"];
const TABLES = ["audit_log", "audit_checkpoints", "audit_head", "audit_pending"];
const [TENANT, OTHER] = [v7(), v7()];

let database: TestDatabase;
let count = 0;
/** As the owner of the tables, with every trigger off. */
const attack = (text: string, values: unknown[] = []) => database.owner.query(`attack.${++count}`, text, values);
const addEntry = (tenant: string, n = 1) =>
  database.db.query(
    "test.entry",
    `insert into audit_log (tenant_id, user_id, action, subject, details)
     select $1, 'ann', 'keys.create', 'subject ' || n, '{"scopes": ["*"]}' from generate_series(1, $2) as n`,
    [tenant, n],
  );

let now = 1_000_000;
let lines: { fields: Record<string, unknown>; message: string }[] = [];
const write = (fields: object, message: string) => lines.push({ fields: { ...fields }, message });
const sealWith = (GESSO_SECRET: string, GESSO_ACCEPTED_SECRETS: string[] = []): AuditSeal =>
  createAuditSeal({
    database: database.db,
    keys: createKeyDerivation({ GESSO_SECRET, GESSO_ACCEPTED_SECRETS })("audit"),
    clock: { now: () => now },
    log: { info: write, error: write },
  });
const reasons = async (seal = sealWith(OLD)) => (await seal.check()).map(({ reason }) => reason);
/** What the digests of the entries show without the checkpoints. */
const unkeyedBreaks = () => findTamperedAuditEntries(database.db);
const headNumber = async () => Number((await attack("select number from audit_head"))[0]!.number);

beforeAll(async () => {
  database = await startTestDatabase();
  const seal = sealWith(OLD);
  for (let round = 0; round < 3; round++) {
    for (const tenant of [TENANT, OTHER]) await addEntry(tenant, 2);
    await seal.sealNewEntries();
  }
  for (const table of TABLES) {
    await attack(`alter table ${table} disable trigger all`);
    await attack(`create table saved_${table} as table ${table}`);
  }
});
afterAll(() => database?.stop());
beforeEach(async () => {
  lines = [];
  for (const table of TABLES) {
    await attack(`truncate ${table}`);
    await attack(`insert into ${table} select * from saved_${table}`);
  }
});

/** Gives all entries of the tenant the digests that the database itself would have given them. */
const rebuildChain = () =>
  attack(
    `with recursive chain as (
       select audit_log as item, audit_digest(audit_log, null) as digest from audit_log where tenant_id = $1 and entry = 1
       union all
       select audit_log, audit_digest(audit_log, chain.digest) from chain
       join audit_log on audit_log.tenant_id = $1 and audit_log.entry = (chain.item).entry + 1
     ) update audit_log set digest = chain.digest from chain
     where audit_log.tenant_id = $1 and audit_log.entry = (chain.item).entry`,
    [TENANT],
  );
const rewriteCheckpoints = () =>
  attack(
    `update audit_checkpoints as c set entry_digest = l.digest from audit_log as l
     where l.tenant_id = c.tenant_id and l.entry = c.entry`,
  );

describe("the check of the audit log", () => {
  it("finds nothing in an untouched log, and the head covers every entry", async () => {
    expect(await reasons()).toEqual([]);
    expect([await headNumber(), await attack("select * from audit_pending")]).toEqual([6, []]);
  });

  it("finds a changed entry", async () => {
    await attack("update audit_log set subject = 'x' where tenant_id = $1 and entry = 3", [TENANT]);
    expect(await sealWith(OLD).check()).toEqual([{ reason: "entry_changed", tenant_id: TENANT, entry: 3 }]);
  });

  it("finds a removed entry in the middle", async () => {
    await attack("delete from audit_log where tenant_id = $1 and entry = 3", [TENANT]);
    expect(await reasons()).toContain("entry_changed");
  });

  it("finds a removed end of the log", async () => {
    await attack("delete from audit_log where tenant_id = $1 and entry > 4", [TENANT]);
    expect(await unkeyedBreaks()).toEqual([]);
    expect(await sealWith(OLD).check()).toEqual([{ reason: "entry_missing", tenant_id: TENANT, entry: 6 }]);
  });

  it("finds a removed end whose checkpoints are removed too", async () => {
    await attack("delete from audit_log where tenant_id = $1 and entry > 4", [TENANT]);
    await attack("delete from audit_checkpoints where tenant_id = $1 and entry > 4", [TENANT]);
    expect(await reasons()).toEqual(["checkpoint_missing"]);
    await attack("update audit_checkpoints set number = number - 1 where number > 5");
    expect(await reasons()).toEqual(["checkpoint_missing"]);
    await attack("update audit_head set number = number - 1");
    expect(await reasons()).toEqual(["head_not_authentic"]);
  });

  it("finds a log that was rebuilt with new digests", async () => {
    await attack("update audit_log set subject = 'x' where tenant_id = $1 and entry = 2", [TENANT]);
    await rebuildChain();
    expect(await unkeyedBreaks()).toEqual([]);
    expect(await reasons()).toEqual(["entry_changed", "entry_changed", "entry_changed"]);
  });

  it("finds a rebuilt log whose checkpoints and head were rebuilt without the key", async () => {
    await attack("update audit_log set subject = 'x' where tenant_id = $1 and entry = 2", [TENANT]);
    await rebuildChain();
    await rewriteCheckpoints();
    expect(await reasons()).toEqual(["checkpoint_changed"]);
    const rows = await attack("select number, tenant_id, entry, entry_digest from audit_checkpoints order by number");
    const digest = rows.reduce<Buffer>((previous, { number, tenant_id, entry, entry_digest }) => {
      const text = JSON.stringify([number, tenant_id, entry, (entry_digest as Buffer).toString("hex")]);
      return createHash("sha256").update(previous).update(text).digest();
    }, Buffer.alloc(0));
    await attack("update audit_head set digest = $1", [digest]);
    expect(await reasons()).toEqual(["head_not_authentic"]);
    await attack("update audit_head set mac = null");
    expect(await reasons()).toEqual(["head_not_authentic"]);
    await attack("delete from audit_head");
    expect(await reasons()).toEqual(["head_missing"]);
  });
});

describe("checkpoints", () => {
  it("are not added on top of a head that is not authentic, and the break is logged once a minute", async () => {
    const seal = sealWith(OLD);
    await attack("update audit_head set digest = '\\x00'");
    await attack("insert into audit_pending (tenant_id, entry) values ($1, 6)", [TENANT]);
    for (let n = 0; n < 3; n++) expect(await seal.sealNewEntries()).toBe(false);
    expect(lines.map(({ fields }) => fields)).toEqual([{ reason: "head_not_authentic" }]);
    expect(await headNumber()).toBe(6);
  });

  it("leave the database as a line of the log, and a process notices that the head moved back", async () => {
    const seal = sealWith(OLD);
    await attack("alter table audit_log enable trigger all");
    await addEntry(TENANT);
    await seal.sealNewEntries();
    await attack("alter table audit_log disable trigger all");
    expect(lines).toEqual([
      {
        fields: expect.objectContaining({ number: 7, digest: expect.stringMatching(/^\w{64}$/) }),
        message: "audit head",
      },
    ]);
    now += 61_000;
    for (const table of TABLES) {
      await attack(`truncate ${table}`);
      await attack(`insert into ${table} select * from saved_${table}`);
    }
    await seal.sealNewEntries();
    expect(lines.at(-1)?.fields).toEqual({ reason: "head_moved_back" });
    // Consistent in itself: a new process finds nothing, so that the log line is the evidence.
    expect(await reasons()).toEqual([]);
  });

  it("stay authentic through a rotation of the secret, and after the old one is removed", async () => {
    expect(await reasons(sealWith(NEW))).toEqual(["head_not_authentic"]);
    await sealWith(NEW, [OLD]).sealNewEntries();
    expect(await reasons(sealWith(NEW))).toEqual([]);
    expect(await reasons(sealWith(OLD))).toEqual(["head_not_authentic"]);
  });

  it("cover entries from before they existed", async () => {
    await attack("truncate audit_checkpoints, audit_pending");
    await attack("update audit_head set number = 0, digest = '', key_id = null, mac = null");
    const seal = sealWith(OLD);
    await seal.markUncoveredEntries();
    await seal.sealNewEntries();
    expect([await headNumber(), await reasons()]).toEqual([2, []]);
  });

  it("accept that a log was deleted with its tenant, if the operator's log says so", async () => {
    await attack("delete from audit_log where tenant_id = $1", [TENANT]);
    await attack(
      "insert into tenant_deletions (deleted_tenant_id, operator_tenant_id, state) values ($1, $2, 'deleting')",
      [TENANT, OTHER],
    );
    expect(new Set(await reasons())).toEqual(new Set(["entry_missing"]));
    await attack("alter table audit_log enable trigger all");
    await database.db.query(
      "test.deletion",
      "insert into audit_log (tenant_id, user_id, action, subject) values ($1, 'operator', 'tenants.delete', $2)",
      [OTHER, TENANT],
    );
    await attack("alter table audit_log disable trigger all");
    expect(await reasons()).toEqual([]);
    await attack("delete from tenant_deletions");
  });

  it("are never changed by a role of the server, and a tenant sees only its own", async () => {
    await attack("alter table audit_checkpoints enable trigger all");
    await expect(database.db.query("test.change", "update audit_checkpoints set entry = 1")).rejects.toThrow(
      "never changed",
    );
    await expect(database.db.query("test.delete", "delete from audit_checkpoints")).rejects.toThrow("never changed");
    await attack("alter table audit_checkpoints disable trigger all");
    const own = database.db.forTenant(TENANT);
    expect(await own.query("test.own", "select distinct tenant_id from audit_checkpoints")).toEqual([
      { tenant_id: TENANT },
    ]);
    const insert = "insert into audit_checkpoints (number, tenant_id, entry, entry_digest) values (99, $1, 1, '')";
    await expect(own.query("test.insert", insert, [TENANT])).rejects.toThrow("row-level security");
    await expect(own.query("test.head", "select * from audit_head")).rejects.toThrow("permission denied");
    await attack("insert into audit_pending (tenant_id, entry) values ($1, 6)", [TENANT]);
    expect(await own.query("test.unmark", "delete from audit_pending returning 1")).toEqual([]);
  });
});
