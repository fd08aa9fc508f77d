// The spool on a real disk: what was written is read again, completely or not at all.
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JobProgress } from "../../providers/provider.ts";
import { systemClock } from "../../runtime/system-clock.ts";
import { attemptKey, toAttemptRef } from "../core/ids.ts";
import { createResponseSpool, type ResponseSpool } from "./response-spool.ts";

const IDS = { next: () => v7() };
let parent: string;
let directory: string;
let spool: ResponseSpool;
const open = (megabytes = 1) =>
  createResponseSpool({ SPOOL_DIR: directory, SPOOL_MEGABYTES: megabytes }, { clock: systemClock, ids: IDS });
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "gesso-spool-"));
  directory = join(parent, "spool");
  spool = open();
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const offer = { provider: "openai", upstreamModel: "gpt-image-1" };
const attempt = toAttemptRef(v7(), 100, 2);
const pathOf = (ref = attempt) => join(directory, attemptKey(ref));
const image = (text: string) => ({ bytes: new Uint8Array(Buffer.from(text)), media_type: "image/png" });
const respond = (response: JobProgress) => ({
  response,
  offer,
  count: 2,
  request: { url: "https://provider.example" },
});

describe("a spooled response", () => {
  it.each<[string, JobProgress]>([
    ["images", { state: "done", outputs: [image("one\n{}"), { ...image("two"), name: "sky", score: 0.5 }] }],
    ["results at a URL", { state: "done", outputs: [{ url: "https://provider.example/1.png" }, image("")] }],
    ["a result without files", { state: "done", outputs: [], data: { text: "a description" } }],
    ["a ticket", { state: "running", ticket: { job: "j-1" } }],
  ])("is read by another process as it was written: %s", async (_, response) => {
    await spool.write(attempt, respond(response));
    expect(await open().read(attempt)).toEqual(respond(response));
    expect((await spool.list()).map((entry) => entry.attempt)).toEqual([attempt]);
    await spool.remove(attempt);
    await spool.remove(attempt);
    expect([await spool.read(attempt), await spool.list()]).toEqual([undefined, []]);
  });

  it("can be read only by the user of the worker", async () => {
    await spool.write(attempt, respond({ state: "done", outputs: [image("one")] }));
    spool.id();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readdirSync(directory).map((name) => statSync(join(directory, name)).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  it("that is not complete does not exist", async () => {
    await spool.write(attempt, respond({ state: "done", outputs: [image("one")] }));
    truncateSync(pathOf(), statSync(pathOf()).size - 1);
    expect(await spool.read(attempt)).toBeUndefined();
    writeFileSync(pathOf(), "{");
    expect(await spool.read(attempt)).toBeUndefined();
  });

  it("belongs to the attempt it was written for, whatever its name", async () => {
    await spool.write(attempt, respond({ state: "done", outputs: [image("one")] }));
    const other = toAttemptRef(v7(), 0, 1);
    rmSync(pathOf(other), { force: true });
    const { renameSync } = await import("node:fs");
    renameSync(pathOf(), pathOf(other));
    expect(await spool.read(other)).toBeUndefined();
  });

  it("is never written or read outside of the directory", async () => {
    const outside = toAttemptRef("../../etc", 0, 1);
    await expect(spool.write(outside, respond({ state: "done", outputs: [] }))).rejects.toThrow("not the name");
    await expect(spool.read(outside)).rejects.toThrow("not the name");
  });
});

describe("the spool", () => {
  it("refuses a response that does not fit, and leaves no part of it", async () => {
    const half = { bytes: new Uint8Array(600 * 1024), media_type: "image/png" };
    await spool.write(attempt, respond({ state: "done", outputs: [half] }));
    const next = toAttemptRef(v7(), 0, 1);
    await expect(spool.write(next, respond({ state: "done", outputs: [half] }))).rejects.toThrow("full");
    expect(readdirSync(directory)).toEqual([attemptKey(attempt)]);
  });

  it("has one id for all workers that share its directory", () => {
    const id = spool.id();
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect([open().id(), spool.id()]).toEqual([id, id]);
    directory = join(parent, "other");
    expect(open().id()).not.toBe(id);
  });

  it("that cannot be used says so before any response comes", () => {
    writeFileSync(directory, "a file");
    expect(() => open().id()).toThrow("SPOOL_DIR cannot be used");
  });

  it("deletes old responses and drafts, and keeps its id", async () => {
    const id = spool.id();
    await spool.write(attempt, respond({ state: "done", outputs: [image("old")] }));
    const recent = toAttemptRef(v7(), 0, 1);
    await spool.write(recent, respond({ state: "done", outputs: [image("recent")] }));
    writeFileSync(join(directory, "x.draft"), "");
    for (const name of [attemptKey(attempt), "x.draft", "id"]) utimesSync(join(directory, name), 1, 1);
    expect(await spool.deleteOlderThan(Date.now() - 60_000)).toBe(2);
    expect((await spool.list()).map((entry) => entry.attempt)).toEqual([recent]);
    expect(open().id()).toBe(id);
  });

  it("that does not exist yet is empty", async () => {
    expect([await spool.list(), await spool.read(attempt), await spool.deleteOlderThan(Date.now())]).toEqual([
      ...[[], undefined, 0],
    ]);
  });
});
