// Large results of a provider on a real socket, with the real fetcher, PostgreSQL and a disk: they are stored byte for
// byte, paid once, and never discarded for their size.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestVideo } from "../../../test/fake-vendors/result-files.ts";
import { createLongVideo, type LongVideo, serveVideo } from "../../../test/support/long-video.ts";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { jobFor, requestTo, SimulatedCrash } from "../../../test/support/step-fixtures.ts";
import { setUpStep } from "../../../test/support/step-setup.ts";
import { findRun } from "../../db/runs/runs.ts";
import { Fault } from "../../faults/faults.ts";
import type { RangedFile } from "../../files/formats/ranged-file.ts";
import { markFile, readFileParts, readMark } from "../../files/provenance/mark-file.ts";
import { markVideoStream } from "../../files/provenance/mark-video-stream.ts";
import type { ProvenanceMode } from "../../files/provenance/settings.ts";
import { createDiskStorage } from "../../files/storage/disk-storage.ts";
import type { ObjectStorage } from "../../files/storage/object-storage.ts";
import { createUrlFetcher } from "../../outbound/url-fetcher.ts";
import { collectResult } from "../attempt/collect-result.ts";
import { createJobFiles } from "../attempt/job-files.ts";
import { submit } from "../attempt/submit.ts";
import type { ResolvedRequest } from "../steps.ts";
import { createByteBudget } from "./byte-budget.ts";
import { openStoredFile } from "./stored-file.ts";

const MEGABYTE = 1024 * 1024;
const VIDEO_JOB = jobFor({ task: "video.generate" }) as ResolvedRequest["job"];
const { database, runtime, first: fake, claim, services, use, ...step } = setUpStep();

let folder: string;
let video: LongVideo;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gesso-large-"));
  video = await createLongVideo(20 * MEGABYTE);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fetcher = createUrlFetcher();
const closing: (() => Promise<unknown>)[] = [];
afterAll(() => fetcher.close());
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

let storage: ObjectStorage;
let thumbnailed: unknown[];
let mode: ProvenanceMode;
let requests: unknown[];
let directories = 0;

/** A job that is done, with the video as its result. */
async function prepare({
  served = video,
  isChunked = false,
  maxOutputBytes = 4096 * MEGABYTE,
  deadlineSeconds = 600,
} = {}) {
  await step.reset({ deadlineSeconds });
  const server = await serveVideo(served, { isChunked });
  closing.push(server.close);
  requests = server.requests;
  fake.provider.resultOrigins = () => [server.origin];
  fake.provider.offers = fake.provider.offers.map((offer) => ({ ...offer, task: "video.generate" }));
  fake.poll = async () => ({ state: "done", outputs: [{ url: `${server.origin}/video.mp4`, duration: 5 }] });
  use(fake);
  storage = createDiskStorage(join(folder, String(++directories)));
  thumbnailed = [];
  mode = "off";
  connect(maxOutputBytes);
  await submit(services, claim, requestTo(fake, { job: VIDEO_JOB }), { attemptNumber: 1, wakeupId: "wakeup" });
}

/** As a worker process with this setting. */
function connect(maxOutputBytes: number) {
  runtime.settings = { ...runtime.settings, maxOutputBytes };
  const make = async (file: unknown) => void thumbnailed.push(file);
  services.jobFiles = createJobFiles(
    {
      ...{ ...services, settings: runtime.settings, byteBudget: createByteBudget(64 * MEGABYTE) },
      http: { open: fetcher.open },
      assets: { storage, signUrl: () => "" },
      thumbnails: { make: make as never },
      provenance: { markStream: markVideoStream } as never,
      findProvenancePolicy: async () => ({ mode, publishesPrompt: false }),
    },
    services.suspects,
  );
}
beforeEach(() => prepare());

const collect = () =>
  collectResult(services, claim, requestTo(fake, { isWholeRun: true, job: VIDEO_JOB }), { attemptNumber: 1 });
const findOutput = async () => {
  const run = await findRun(database.db, claim.tenant_id, claim.run_id);
  return { status: run!.status, warnings: run!.warnings, output: run!.result?.outputs[0] };
};
const gather = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const gathered: T[] = [];
  for await (const item of items) gathered.push(item);
  return gathered;
};
const listKeys = async () => (await gather(storage.list(""))).map(({ key }) => key);
const hashStored = async (key: string) => {
  const hash = createHash("sha256");
  for await (const chunk of (await storage.get(key))!) hash.update(chunk);
  return hash.digest("hex");
};

describe("a video of 20 MB at a URL of the provider", () => {
  it.each([false, true])("is stored byte for byte, without being in memory (chunked: %s)", async (isChunked) => {
    await prepare({ isChunked });
    expect(await collect()).toEqual({ state: "finished" });
    const sha256 = await video.hash();
    const { status, output } = await findOutput();
    expect(status).toBe("completed");
    expect(output).toMatchObject({
      ...{ media_type: "video/mp4", width: 128, height: 72, duration: 5, role: "result" },
      ...{ sha256, size_bytes: video.sizeBytes },
    });
    const [key] = await listKeys();
    expect(await listKeys()).toEqual([`t/${claim.tenant_id}/r/${claim.run_id}/${sha256}`]);
    expect(await hashStored(key!)).toBe(sha256);
    // What reads the file gets ranges of it.
    expect(thumbnailed).toMatchObject([{ sizeBytes: video.sizeBytes }]);
    expect(requests).toHaveLength(1);
  });

  it("has the bytes of a marked video where outputs are marked", async () => {
    mode = "mark";
    expect(await collect()).toEqual({ state: "finished" });
    const { output } = await findOutput();
    expect(output?.provenance).toMatchObject({ status: "marked" });
    const whole = Buffer.concat(await gather(video.chunks()));
    const { digital_source_type } = output!.provenance!;
    const mark = { run_id: claim.run_id, asset_id: output!.asset_id, digitalSourceType: digital_source_type };
    const marked = markFile(readFileParts(whole, "video/mp4"), whole, mark).bytes;
    expect(output?.sha256).toBe(createHash("sha256").update(marked).digest("hex"));
    const stored = await storage.bytes((await listKeys())[0]!);
    expect(readMark(readFileParts(stored!, "video/mp4"))?.asset_id).toBe(output?.asset_id);
  });

  it.each(["result_read", "file_stored", "finishing"] as const)(
    "is fetched again after a crash at %s, stored under the same key and paid once",
    async (point) => {
      runtime.crashAt = point;
      connect(4096 * MEGABYTE);
      await expect(collect()).rejects.toThrow(SimulatedCrash);
      expect(await collect()).toEqual({ state: "finished" });
      expect(await listKeys()).toEqual([`t/${claim.tenant_id}/r/${claim.run_id}/${await video.hash()}`]);
      expect(fake.submissions).toHaveLength(1);
    },
  );

  it("that is damaged is invalid, and leaves nothing in the storage", async () => {
    const withoutIndex = async function* () {
      let sent = 0;
      for await (const chunk of video.chunks()) {
        if (sent > 15 * MEGABYTE) return;
        sent += chunk.byteLength;
        yield chunk;
      }
    };
    await prepare({ served: { ...video, chunks: withoutIndex }, isChunked: true });
    await expect(collect()).rejects.toMatchObject({ code: "provider_output_invalid" });
    expect(await listKeys()).toEqual([]);
  });

  it("stays readable in ranges after it is stored", async () => {
    await collect();
    const file: RangedFile = openStoredFile(storage, {
      storage_key: (await listKeys())[0]!,
      size_bytes: video.sizeBytes,
    });
    const whole = Buffer.concat(await gather(video.chunks()));
    for (const [start, end] of [
      [0, 12],
      [5 * MEGABYTE - 3, 5 * MEGABYTE + 9],
      [video.sizeBytes - 1, video.sizeBytes],
    ] as const)
      expect(Buffer.from(await file.read(start, end)).equals(whole.subarray(start, end))).toBe(true);
    const missing = openStoredFile(storage, { storage_key: "t/nothing", size_bytes: 10 });
    await expect(missing.read(0, 5)).rejects.toMatchObject({ code: "asset_unavailable" });
  });
});

it("A video above 100 MB is marked where outputs are signed, and its run says why it has no signature", async () => {
  await prepare({ served: await createLongVideo(101 * MEGABYTE) });
  mode = "sign";
  expect(await collect()).toEqual({ state: "finished" });
  const { output, warnings } = await findOutput();
  expect(output?.provenance?.status).toBe("marked");
  expect(warnings).toEqual([
    "The video has 102 MB. Gesso signs files of up to 100 MB, so the video is marked and not signed.",
  ]);
});

describe("a result that cannot be stored now", () => {
  /** Moves to the next try. */
  const useManualClock = () => {
    const clock = createManualClock();
    Object.assign(services, { clock });
    return clock;
  };
  const tooLarge = {
    code: "storage_failed",
    details: { reason: "output_too_large", max_bytes: 10 * MEGABYTE, setting: "MAX_OUTPUT_MEGABYTES" },
  };

  it("is stored as soon as the setting allows its size, by the same attempt", async () => {
    await prepare({ maxOutputBytes: 10 * MEGABYTE });
    const clock = useManualClock();
    const collected = collect();
    await clock.waitForTimer(15_000);
    expect(await step.latestAttempt()).toMatchObject({ state: "submitted" });
    expect(runtime.messages.join()).toContain("cannot be stored");
    connect(100 * MEGABYTE);
    await clock.advance(15_000);
    expect(await collected).toEqual({ state: "finished" });
    expect((await findOutput()).output?.size_bytes).toBe(video.sizeBytes);
    expect(fake.submissions).toHaveLength(1);
  });

  it("fails its run at the deadline with what stood in the way, and the attempt stays submitted", async () => {
    await prepare({ maxOutputBytes: 10 * MEGABYTE, deadlineSeconds: 0 });
    expect(await collect()).toEqual({ state: "not_stored", fault: tooLarge });
    expect(await step.latestAttempt()).toMatchObject({ state: "submitted" });
    expect(runtime.messages.join()).toContain("could not be stored before the deadline");
  });

  it("is fetched again until the disk has space", async () => {
    const full = new Fault("storage_failed", { reason: "disk_full" });
    const { putStream } = storage;
    storage.putStream = () => Promise.reject(full);
    connect(4096 * MEGABYTE);
    const clock = useManualClock();
    const collected = collect();
    await clock.waitForTimer(500);
    storage.putStream = putStream;
    await clock.advance(500);
    expect(await collected).toEqual({ state: "finished" });
    expect((await findOutput()).output?.sha256).toBe(await video.hash());
    expect(fake.submissions).toHaveLength(1);
  });

  it("is given up without an error if a later epoch has claimed the run", async () => {
    await prepare({ maxOutputBytes: 10 * MEGABYTE });
    const clock = useManualClock();
    const collected = collect();
    await clock.waitForTimer(15_000);
    await database.db.query("test.claim", "update open_runs set epoch = epoch + 1 where run_id = $1", [claim.run_id]);
    await clock.advance(15_000);
    expect(await collected).toEqual({ state: "claim_lost" });
  });

  it("renews the claim of its run while a download takes longer than the claim lasts", async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const slow = async function* () {
      for await (const chunk of video.chunks()) {
        yield chunk;
        await gate;
      }
    };
    await prepare({ served: { ...video, chunks: slow } });
    const clock = useManualClock();
    const claimSeconds = async () => {
      const [row] = await database.db.query<{ seconds: number }>(
        "test.remaining",
        "select extract(epoch from claim_expires_at - now())::float as seconds from open_requests where run_id = $1",
        [claim.run_id],
      );
      return row!.seconds;
    };
    const collected = collect();
    await clock.waitForTimer(20_000);
    await expect.poll(() => requests.length).toBe(1);
    await database.db.query(
      "test.nearly_expired",
      "update open_requests set claim_expires_at = now() + interval '5 seconds' where run_id = $1",
      [claim.run_id],
    );
    await clock.advance(20_000);
    await expect.poll(claimSeconds).toBeGreaterThan(100);
    open();
    expect(await collected).toEqual({ state: "finished" });
  });
});

describe("a result in a format that Gesso does not read", () => {
  const serve = (bytes: Buffer): LongVideo => ({
    sizeBytes: bytes.byteLength,
    chunks: async function* () {
      for (let at = 0; at < bytes.byteLength; at += 1000) yield bytes.subarray(at, at + 1000);
    },
    hash: async () => createHash("sha256").update(bytes).digest("hex"),
  });
  /** The same video as QuickTime, which differs in its brand. */
  const quickTimeVideo = async () => {
    const bytes = Buffer.from(await createTestVideo());
    bytes.write("qt  ", 8, "latin1");
    return serve(bytes);
  };

  it("is delivered as it is, with its size and duration where its index tells them", async () => {
    const served = await quickTimeVideo();
    await prepare({ served });
    expect(await collect()).toEqual({ state: "finished" });
    const { status, warnings, output } = await findOutput();
    expect([status, warnings]).toEqual(["completed", []]);
    expect(output).toMatchObject({
      ...{ media_type: "video/quicktime", width: 128, height: 72, duration: 5 },
      ...{ sha256: await served.hash(), size_bytes: served.sizeBytes },
    });
    expect(output).not.toHaveProperty("thumbnails");
    expect(thumbnailed).toEqual([]);
    expect(requests).toHaveLength(1);
  });

  it("has a warning where outputs say what made them", async () => {
    await prepare({ served: await quickTimeVideo() });
    mode = "sign";
    expect(await collect()).toEqual({ state: "finished" });
    const { warnings, output } = await findOutput();
    expect(warnings).toEqual([expect.stringContaining("video/quicktime")]);
    expect(output).not.toHaveProperty("provenance");
  });

  it("is delivered without a size if its index cannot be read", async () => {
    const damaged = Buffer.concat([Buffer.from("\0\0\0\u0014ftypqt  \0\0\0\0qt  "), Buffer.alloc(9000, 7)]);
    await prepare({ served: serve(damaged) });
    expect(await collect()).toEqual({ state: "finished" });
    const { output } = await findOutput();
    expect(output).toMatchObject({ media_type: "video/quicktime", width: null, height: null });
  });

  it("of another kind than the job announces fails the run, and nothing is stored", async () => {
    const sound = Buffer.concat([Buffer.from("RIFF\u0010\0\0\0WAVEfmt "), Buffer.alloc(9000)]);
    for (const bytes of [
      sound,
      await sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } })
        .png()
        .toBuffer(),
      Buffer.from("<html>Try again later</html>"),
    ]) {
      await prepare({ served: serve(bytes) });
      await expect(collect()).rejects.toMatchObject({
        code: "provider_output_invalid",
        details: { reason: "not_a_video" },
      });
      expect(await listKeys()).toEqual([]);
    }
  });
});
