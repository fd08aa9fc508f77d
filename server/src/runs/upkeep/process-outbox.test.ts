// The outbox on a real database: jobs of runs that were ended from outside are canceled whatever crashes, and a
// provider that does not respond delays nothing but its own cancellations.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { v7 } from "uuid";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { attemptOf, claimAttemptAt, type FakeProvider } from "../../../test/support/step-fixtures.ts";
import { setUpStep } from "../../../test/support/step-setup.ts";
import { until } from "../../../test/support/until.ts";
import { saveTicket } from "../../db/attempts/tickets.ts";
import type { Database } from "../../db/connect.ts";
import { Fault } from "../../faults/faults.ts";
import { createDiskStorage } from "../../files/storage/disk-storage.ts";
import { assetKey, type ObjectStorage } from "../../files/storage/object-storage.ts";
import type { Ticket } from "../../providers/provider.ts";
import { endFromOutside } from "./end-from-outside.ts";
import { deleteFiles, listOutboxLanes, processOutboxLane } from "./process-outbox.ts";

const { database, first, second, claim, services } = setUpStep();
const TIMEOUT = { status: "failed", fault: new Fault("run_timeout") } as const;

let deletedFiles: string[];
let lanes: Record<string, () => Promise<number>>;
beforeEach(async () => {
  await database.db.query("test.empty", "delete from outbox");
  deletedFiles = [];
  services.assets.storage.delete = async (keys) => void deletedFiles.push(...keys);
  const entries = listOutboxLanes(services).map(([name, lane]) => [name, () => processOutboxLane(services, lane)]);
  lanes = Object.fromEntries(entries);
});

const insertItem = (kind: string, payload: object) =>
  database.db.query("test.insert", "insert into outbox (outbox_id, kind, payload) values ($1, $2, $3)", [
    ...[v7(), kind, payload],
  ]);
const insertCancellation = (provider: string, ticket: Ticket = { job: v7() }) =>
  insertItem("cancel_job", { run_id: v7(), request_index: 0, attempt_number: 1, provider, ticket });
const countItems = async () => (await database.db.query("test.items", "select outbox_id from outbox")).length;
const submitJob = async (to: FakeProvider, as = claim) => {
  await claimAttemptAt(database.db, as, to);
  await saveTicket(database.db, attemptOf(as), { ticket: { job: as.run_id } }, 0);
};

describe("a provider that does not respond to cancellations", () => {
  const hang = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    first.cancel = async () => {
      await promise;
      return { isUncharged: false };
    };
    return resolve;
  };

  it("delays neither the deletion of files nor the cancellations at other providers", async () => {
    const respond = hang();
    for (let n = 0; n < 12; n++) await insertCancellation("first");
    await insertCancellation("second", { job: "other" });
    await insertItem("delete_files", { keys: ["t/1/file"] });
    const hung = lanes["outbox/first"]!();
    await until(() => first.canceled.length > 0);
    expect([await lanes.outbox!(), await lanes["outbox/second"]!()]).toEqual([1, 1]);
    expect([deletedFiles, second.canceled]).toEqual([["t/1/file"], [{ job: "other" }]]);
    respond();
    await hung;
  });

  it("has a bounded number of cancellations in progress, and gets the others afterwards", async () => {
    const respond = hang();
    for (let n = 0; n < 12; n++) await insertCancellation("first");
    const hung = lanes["outbox/first"]!();
    await until(() => first.canceled.length === 8);
    respond();
    expect([await hung, await lanes["outbox/first"]!(), await lanes["outbox/first"]!()]).toEqual([8, 4, 0]);
    expect([new Set(first.canceled.map(({ job }) => job)).size, await countItems()]).toEqual([12, 0]);
  });
});

it("every item belongs to one lane, also a cancellation at a provider that is no longer enabled", async () => {
  await insertItem("delete_files", { keys: ["t/1/file"] });
  for (const provider of ["first", "second", "removed"]) await insertCancellation(provider);
  const tried = [];
  for (const process of Object.values(lanes)) tried.push(await process());
  expect([Object.keys(lanes), tried]).toEqual([
    ["outbox", "outbox/first", "outbox/second"],
    [2, 1, 1],
  ]);
  expect([deletedFiles.length, first.canceled.length, second.canceled.length]).toEqual([1, 1, 1]);
  expect(await countItems()).toBe(0);
});

it("an item that fails is kept, and the items beside it are done", async () => {
  first.cancel = async ({ job }) => {
    if (job === "bad") throw new Error("not now");
    return { isUncharged: false };
  };
  for (const job of ["good", "bad", "good"]) await insertCancellation("first", { job });
  expect([await lanes["outbox/first"]!(), await countItems()]).toEqual([3, 1]);
});

describe("a run that is ended from outside", () => {
  /** A process that dies after its first statement. */
  const dyingAfterOneStatement = (): Database => {
    let statements = 0;
    const execute = async (...query: Parameters<Database["execute"]>) => {
      if (statements++ > 0) throw new Error("the process has died");
      return database.db.execute(...query);
    };
    return { ...database.db, execute: execute as Database["execute"] };
  };

  it("has its jobs canceled although the process dies right after the statement that ends it", async () => {
    await submitJob(first);
    await endFromOutside({ ...services, database: dyingAfterOneStatement() }, claim.run_id, TIMEOUT).catch(() => {});
    expect(await lanes["outbox/first"]!()).toBe(1);
    expect(first.canceled).toEqual([{ job: claim.run_id }]);
  });

  it("has the job canceled whose ticket another process is just saving", async () => {
    await claimAttemptAt(database.db, claim, first);
    const saving = new pg.Client({ connectionString: database.url });
    await saving.connect();
    await saving.query("begin");
    await saving.query(`update open_requests set ticket = '{"job": "late"}' where run_id = $1`, [claim.run_id]);
    const ending = endFromOutside(services, claim.run_id, TIMEOUT);
    await until(async () => {
      const blocked = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
      return (await database.owner.query("test.blocked", blocked)).length > 0;
    });
    await saving.query("commit");
    await saving.end();
    expect(await ending).toBe(true);
    await lanes["outbox/first"]!();
    expect(first.canceled).toEqual([{ job: "late" }]);
  });

  it("is not ended, and has nothing canceled, if it has ended before", async () => {
    await submitJob(first);
    expect(await endFromOutside(services, claim.run_id, TIMEOUT)).toBe(true);
    expect(await endFromOutside(services, claim.run_id, TIMEOUT)).toBe(false);
    expect(await countItems()).toBe(1);
  });
});

describe("the deletion of files", () => {
  const [tenant, run, other] = [v7(), v7(), v7()];
  let folder: string;
  let storage: ObjectStorage;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "gesso-delete-"));
    storage = createDiskStorage(folder);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const store = async (runId: string, digit: string) => {
    const key = assetKey(tenant, runId, digit.repeat(64));
    await storage.put(key, Buffer.from(digit), "image/png");
    return key;
  };
  const listAll = async () => {
    const keys: string[] = [];
    for await (const { key } of storage.list("t/")) keys.push(key);
    return keys.sort();
  };

  it("a signed copy without a row is deleted with its run, and files of other runs stay", async () => {
    const [row, stays] = [await store(run, "a"), await store(other, "c")];
    await store(run, "b");
    await deleteFiles(storage, { keys: [row], run_prefix: `t/${tenant}/r/${run}/` });
    expect(await listAll()).toEqual([stays]);
  });

  it("without a prefix, only the listed files are deleted", async () => {
    const [first, second] = [await store(run, "a"), await store(run, "b")];
    await deleteFiles(storage, { keys: [first] });
    expect(await listAll()).toEqual([second]);
  });

  it.each(["t/", "", `t/${tenant}/`, `t/${tenant}/r/`, `t/${tenant}/r/${run}`, `t/${tenant}/archive/`])(
    "%j is not the prefix of a run, and nothing is deleted",
    async (run_prefix) => {
      const key = await store(run, "a");
      await expect(deleteFiles(storage, { keys: [key], run_prefix })).rejects.toMatchObject({ code: "internal_error" });
      expect(await listAll()).toEqual([key]);
    },
  );
});
