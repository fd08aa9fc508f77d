// Sources of a job become stored assets, once for each run and URL, whatever crashes between.

import { v7 } from "uuid";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  cancelRun,
  claimRun,
  createRuntime,
  createStepServices,
  createTestFiles,
  jobFor,
  requeue,
  SimulatedCrash,
  type TestRuntime,
} from "../../../test/support/step-fixtures.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import type { Job } from "../../contract/operation.ts";
import { findAsset, insertSourceAsset } from "../../db/files/assets.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { endRun } from "../../db/runs/end-runs.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import { Fault } from "../../faults/faults.ts";
import { sourceAssetId } from "../core/ids.ts";
import { createByteBudget } from "../outputs/byte-budget.ts";
import { resolveSources } from "./resolve-sources.ts";
import { createSourceBuffer } from "./source-buffer.ts";
import { MAX_SOURCE_BYTES } from "./store-source.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const URL_A = "https://images.example/a.png";
let runtime: TestRuntime;
let files: ReturnType<typeof createTestFiles>;
let fetched: string[];
let claim: RunClaim;
beforeEach(async () => {
  runtime = createRuntime();
  files = createTestFiles();
  fetched = [];
  files.fetch = async (url) => {
    fetched.push(url);
    return { bytes: Buffer.from(`pixels of ${url}`) };
  };
  claim = await claimRun(database.db);
});

const sourceBuffer = createSourceBuffer(createByteBudget(4 * MAX_SOURCE_BYTES), MAX_SOURCE_BYTES);
const resolveStep = (job: Partial<Job>, filesByJob: StoredAsset[][] = []) => {
  const services = { ...createStepServices({ database: database.db, runtime, files }), sourceBuffer };
  return resolveSources(services, claim, jobFor(job), filesByJob);
};
const resolve = async (job: Partial<Job>, filesByJob: StoredAsset[][] = []) => {
  const resolved = await resolveStep(job, filesByJob);
  if (resolved.state !== "resolved") throw new Error(resolved.state);
  return resolved.job;
};
const produced = (name: string): StoredAsset => ({
  ...{ asset_id: name, media_type: "image/png", width: 32, height: 32, size_bytes: 1, sha256: "00", role: "result" },
});
/** An asset of this run whose bytes are in storage. */
const storeAsset = async (text: string) => {
  const asset = { ...produced(v7()), size_bytes: text.length, storage_key: `key of ${text}` };
  files.objects.set(asset.storage_key, Buffer.from(text));
  await insertSourceAsset(database.db, claim, asset);
  return asset;
};
const markDeleted = (assetId: string) =>
  database.db.query("test.deleteAsset", "update assets set deleted_at = now() where asset_id = $1", [assetId]);

describe("a URL", () => {
  it("is fetched and stored as an asset of the run", async () => {
    const { images } = await resolve({ images: [{ url: URL_A }] });
    expect(images).toEqual([{ asset_id: sourceAssetId(claim.run_id, URL_A), media_type: "image/png" }]);
    const row = await findAsset(database.db, images![0]!.asset_id);
    expect([row!.role, files.objects.get(row!.storage_key)!.toString()]).toEqual(["source", `pixels of ${URL_A}`]);
  });

  it("is fetched once for a run, also if the step is repeated or the run is requeued", async () => {
    const before = await resolve({ images: [{ url: URL_A }] });
    claim = await requeue(database.db, claim);
    await cancelRun(database.db, claim);
    expect(await resolve({ images: [{ url: URL_A }] })).toEqual(before);
    expect(fetched).toEqual([URL_A]);
  });

  it("is stored once if the step crashes before its row is written", async () => {
    runtime.crashAt = "file_stored";
    await expect(resolve({ images: [{ url: URL_A }] })).rejects.toThrow(SimulatedCrash);
    const { images } = await resolve({ images: [{ url: URL_A }] });
    expect([images!.length, files.objects.size]).toEqual([1, 1]);
  });

  it("that cannot be fetched fails the step with the fault of the fetch", async () => {
    files.fetch = () => Promise.reject(new Fault("source_too_large"));
    await expect(resolve({ images: [{ url: URL_A }] })).rejects.toMatchObject({ code: "source_too_large" });
  });

  it("of this server is read from storage, unless its file was deleted", async () => {
    const asset = await storeAsset("own");
    files.findIdByUrl = () => asset.asset_id;
    expect((await resolve({ images: [{ url: "https://gesso.example/files/x" }] })).images).toEqual([
      { asset_id: asset.asset_id, media_type: "image/png", is_result: true },
    ]);
    expect(fetched).toEqual([]);
    await markDeleted(asset.asset_id);
    await expect(resolve({ images: [{ url: "https://gesso.example/files/x" }] })).rejects.toMatchObject({
      ...{ code: "asset_expired", details: { asset_id: asset.asset_id } },
    });
  });
});

it("an image that would be too large to be stored when it is enlarged fails the step", async () => {
  const image = { ...produced(v7()), width: 4000, height: 3000 };
  const upscale = (factor: number) =>
    resolve({ task: "image.upscale", images: [{ job: 0 }], options: { factor } }, [[image]]);
  await expect(upscale(4)).rejects.toMatchObject({ code: "image_too_many_pixels" });
  expect((await upscale(2)).images).toHaveLength(1);
});

/** The storage refuses the next `count` writes. */
function failStorage(count: number, onFailure: (failures: number) => Promise<unknown> = async () => {}) {
  const { put } = files.storage;
  let failures = 0;
  files.storage.put = async (key, bytes) => {
    if (failures >= count) return put(key, bytes);
    await onFailure(++failures);
    throw new Fault("storage_failed");
  };
}
/** The engine repeats a step that throws a transient fault. */
async function resolveAsEngine(job: Partial<Job>) {
  for (let round = 0; round < 10; round++) {
    const resolved = await resolveStep(job).catch((thrown) => {
      if (thrown instanceof Fault && thrown.code === "storage_failed") return undefined;
      throw thrown;
    });
    if (resolved) return resolved;
  }
  throw new Error("not resolved");
}
const claimSeconds = async () => {
  const [row] = await database.db.query<{ seconds: number }>(
    "test.claimSeconds",
    "select extract(epoch from claim_expires_at - now())::float as seconds from open_runs where run_id = $1",
    [claim.run_id],
  );
  return row!.seconds;
};
const updateOpenRun = (change: string) =>
  database.db.query(`test.${change}`, `update open_runs set ${change} where run_id = $1`, [claim.run_id]);

describe("while the storage is away, a URL", () => {
  it("is fetched once, and stored when the storage is back", async () => {
    failStorage(2);
    expect(await resolveAsEngine({ images: [{ url: URL_A }] })).toMatchObject({ state: "resolved" });
    expect([fetched, files.objects.size]).toEqual([[URL_A], 1]);
  });

  it("keeps the claim of its run, so that no second invocation is started", async () => {
    await updateOpenRun("claim_expires_at = now() + interval '1 second'");
    let seconds = 0;
    failStorage(1, async () => {
      seconds = await claimSeconds();
    });
    await resolve({ images: [{ url: URL_A }] });
    expect(seconds).toBeGreaterThan(100);
  });

  it("is given up when a later epoch has claimed the run", async () => {
    failStorage(100, () => requeue(database.db, claim));
    expect(await resolveAsEngine({ images: [{ url: URL_A }] })).toEqual({ state: "claim_lost" });
  });

  it("is given up when the run is canceled", async () => {
    failStorage(100, () => cancelRun(database.db, claim));
    expect(await resolveAsEngine({ images: [{ url: URL_A }] })).toEqual({ state: "canceled" });
  });

  it("is given up at the deadline of the run", async () => {
    failStorage(100, () => updateOpenRun("deadline_at = now()"));
    await expect(resolveAsEngine({ images: [{ url: URL_A }] })).rejects.toMatchObject({ code: "run_timeout" });
  });
});

it("an invocation whose run a later epoch has claimed fetches nothing", async () => {
  await requeue(database.db, claim);
  expect(await resolveStep({ images: [{ url: URL_A }] })).toEqual({ state: "claim_lost" });
  expect(fetched).toEqual([]);
});

it("a URL that a job names twice is fetched once", async () => {
  const { fetch } = files;
  files.fetch = async (url) => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    return fetch(url);
  };
  const { images } = await resolve({ images: [{ url: URL_A }, { url: URL_A }] });
  expect([images!.length, fetched]).toEqual([2, [URL_A]]);
});

describe("an asset, a run or an earlier job", () => {
  it("resolves to the stored asset", async () => {
    const asset = await storeAsset("uploaded");
    expect((await resolve({ images: [{ asset: asset.asset_id }] })).images).toHaveLength(1);
    await markDeleted(asset.asset_id);
    await expect(resolve({ images: [{ asset: asset.asset_id }] })).rejects.toMatchObject({ code: "asset_expired" });
    await expect(resolve({ images: [{ asset: v7() }] })).rejects.toMatchObject({ code: "source_run_failed" });
  });

  it("resolves to the first output of a completed run", async () => {
    const source = await claimRun(database.db);
    await expect(resolve({ images: [{ run: source.run_id }] })).rejects.toMatchObject({ code: "source_run_failed" });
    const result = { outputs: [produced("output-1"), produced("output-2")] };
    await endRun(database.db, source, { status: "completed", result, provider: "p", cost: 0, warnings: [] }, v7());
    const { images } = await resolve({ images: [{ run: source.run_id }] });
    expect(images).toEqual([{ asset_id: "output-1", media_type: "image/png", is_result: true }]);
    await expect(resolve({ images: [{ run: v7() }] })).rejects.toMatchObject({ code: "source_run_failed" });
  });

  it("resolves to the output with the given index, or to a still of a video", async () => {
    const source = await claimRun(database.db);
    const stored = { ...(await storeAsset("a video")), media_type: "video/mp4" };
    const { storage_key: _, ...video } = stored;
    const result = { outputs: [produced("output-1"), video] };
    await endRun(database.db, source, { status: "completed", result, provider: "p", cost: 0, warnings: [] }, v7());
    const run = source.run_id;
    expect((await resolve({ images: [{ run, frame: "last" }] })).images![0]!.asset_id).toBe("output-1");
    await expect(resolve({ images: [{ run, output: 1 }] })).rejects.toMatchObject({ code: "source_not_image" });
    await expect(resolve({ images: [{ run, output: 2 }] })).rejects.toMatchObject({ code: "output_not_found" });
    const stills = (
      await resolve({
        images: [
          { run, output: 1, frame: "first" },
          { run, output: 1, frame: "last" },
        ],
      })
    ).images!;
    const rows = await Promise.all(stills.map(({ asset_id }) => findAsset(database.db, asset_id)));
    expect(rows.map((row) => [row!.run_id, files.objects.get(row!.storage_key)!.toString()])).toEqual([
      [claim.run_id, "first frame of a video"],
      [claim.run_id, "last frame of a video"],
    ]);
    files.videoFrames.extract = () => Promise.reject(new Fault("frame_unavailable"));
    expect((await resolve({ images: [{ run, output: 1, frame: "last" }] })).images).toEqual([stills[1]]);
  });

  it("resolves to one or all files of an earlier job of the same run", async () => {
    const filesByJob = [[produced("a"), produced("b")], []];
    const ids = async (job: Partial<Job>) =>
      (await resolve({ ...job }, filesByJob)).images!.map(({ asset_id }) => asset_id);
    expect(await ids({ images: [{ job: 0 }] })).toEqual(["a"]);
    expect(await ids({ images: [{ job: 0, every: true }] })).toEqual(["a", "b"]);
    await expect(resolve({ images: [{ job: 1 }] }, filesByJob)).rejects.toMatchObject({ code: "source_run_failed" });
    await expect(resolve({ images: [{ job: 7 }] }, filesByJob)).rejects.toMatchObject({ code: "source_run_failed" });
  });
});

describe("a mask", () => {
  it("that has the right format is used as it is", async () => {
    const [image, mask] = [await storeAsset("image"), await storeAsset("mask")];
    const resolved = await resolve({ images: [{ asset: image.asset_id }], mask: { asset: mask.asset_id } });
    expect(resolved.mask!.asset_id).toBe(mask.asset_id);
  });

  it("in another format is converted and stored beside the original, once", async () => {
    const [image, mask] = [await storeAsset("image"), await storeAsset("mask")];
    files.images.toMask = async () => Buffer.from("converted");
    const job = { images: [{ asset: image.asset_id }], mask: { asset: mask.asset_id } };
    const resolved = await resolve(job);
    expect(await findAsset(database.db, resolved.mask!.asset_id)).toMatchObject({ role: "mask", run_id: claim.run_id });
    expect(await resolve(job)).toEqual(resolved);
  });

  it("whose bytes are missing fails the step", async () => {
    const mask = await storeAsset("mask");
    files.objects.clear();
    await expect(resolve({ mask: { asset: mask.asset_id } })).rejects.toMatchObject({ code: "asset_unavailable" });
    await expect(resolve({ mask: { job: 0 } }, [[produced(v7())]])).rejects.toMatchObject({
      code: "asset_unavailable",
    });
  });

  it("of another shape than its image is refused", async () => {
    const mask = await storeAsset("mask");
    const image = { ...produced(v7()), width: 64 };
    await expect(resolve({ images: [{ job: 0 }], mask: { asset: mask.asset_id } }, [[image]])).rejects.toMatchObject({
      code: "mask_mismatch",
      details: { image: { width: 64, height: 32 }, mask: { width: 32, height: 32 } },
    });
  });

  it("of the same shape and another size is scaled to the image that it applies to, and stored once for each size", async () => {
    const mask = await storeAsset("mask");
    const wanted: unknown[] = [];
    files.images.toMask = async (bytes: Uint8Array, size?: object) => {
      wanted.push(size);
      return size ? Buffer.from(`${bytes} ${JSON.stringify(size)}`) : bytes;
    };
    const [small, large] = [produced(v7()), { ...produced(v7()), width: 64, height: 64 }];
    const masked = (mask_over: number) =>
      resolve({ images: [{ job: 0, every: true }], mask: { asset: mask.asset_id }, mask_over }, [[small, large]]);
    const scaled = await masked(1);
    expect(scaled.mask!.asset_id).not.toBe(mask.asset_id);
    const row = await findAsset(database.db, scaled.mask!.asset_id);
    expect([row!.role, files.objects.get(row!.storage_key)!.toString()]).toEqual([
      "mask",
      'mask {"width":64,"height":64}',
    ]);
    expect(await masked(1)).toEqual(scaled);
    expect((await masked(0)).mask!.asset_id).toBe(mask.asset_id);
    expect(wanted).toEqual([{ width: 64, height: 64 }, { width: 64, height: 64 }, undefined]);
  });
});

describe("the masks of found objects", () => {
  it("become one mask, extended by the margin, and are stored once", async () => {
    const [one, other] = [await storeAsset("one"), await storeAsset("other")];
    const merges: unknown[] = [];
    files.images.mergeMasks = async (masks: Uint8Array[], options: object) => {
      merges.push(options);
      return Buffer.concat(masks);
    };
    const job = { images: [{ job: 1 }], mask: { job: 0, every: true as const }, mask_margin: 0.1 };
    const resolved = await resolve(job, [[one, other], [produced(v7())]]);
    const row = await findAsset(database.db, resolved.mask!.asset_id);
    expect([row!.role, files.objects.get(row!.storage_key)!.toString()]).toEqual(["mask", "oneother"]);
    expect(merges).toEqual([{ size: { width: 32, height: 32 }, margin: 3 }]);
    expect((await resolve(job, [[one, other], [produced(v7())]])).mask).toEqual(resolved.mask);
    const single = await resolve({ ...job, mask_margin: undefined }, [[one], [produced(v7())]]);
    expect(single.mask!.asset_id).toBe(one.asset_id);
  });

  it("fail the step if nothing was found", async () => {
    await expect(resolve({ mask: { job: 0, every: true } }, [[]])).rejects.toMatchObject({
      ...{ code: "provider_rejected_input", details: { reason: "nothing_found" } },
    });
  });
});

it("a job with one result for each mask fails if no mask was found", async () => {
  const { masks } = await resolve({ masks: [{ job: 0, every: true }] }, [[produced("m1"), produced("m2")]]);
  expect(masks!.map(({ asset_id }) => asset_id)).toEqual(["m1", "m2"]);
  await expect(resolve({ masks: [{ job: 0, every: true }] }, [[]])).rejects.toMatchObject({
    ...{ code: "provider_rejected_input", details: { reason: "nothing_found" } },
  });
});

describe("a file for an imported model", () => {
  const WAVE = Buffer.concat([Buffer.from("RIFF\0\0\0\0WAVEfmt "), Buffer.alloc(64)]);
  const URL_B = "https://sounds.example/b.wav";
  const modelJob = (images: Job["images"]): Partial<Job> => ({ task: "model.run", images });

  it("is stored as it is, with its medium and without a size", async () => {
    files.fetch = async (url) => ({ bytes: url === URL_B ? WAVE : Buffer.from("plain text") });
    const { images } = await resolve(modelJob([{ url: URL_B, as_is: true }]));
    expect(images).toEqual([{ asset_id: sourceAssetId(claim.run_id, URL_B), media_type: "audio/wav" }]);
    const row = await findAsset(database.db, images![0]!.asset_id);
    expect(row).toMatchObject({ role: "source", width: null, size_bytes: WAVE.byteLength });
    expect(files.objects.get(row!.storage_key)).toEqual(WAVE);
  });

  it("that is an image which Gesso reads is stored as any image, without its metadata", async () => {
    const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(64)]);
    files.fetch = async () => ({ bytes: png });
    files.images.normalize = async () => ({
      ...{ media_type: "image/png", width: 32, height: 32, manifest: undefined },
      bytes: Buffer.from("bare pixels"),
    });
    const { images } = await resolve(modelJob([{ url: URL_A, as_is: true }]));
    const row = await findAsset(database.db, images![0]!.asset_id);
    expect([row!.media_type, row!.width, files.objects.get(row!.storage_key)!.toString()]).toEqual([
      ...["image/png", 32, "bare pixels"],
    ]);
  });

  it("is fetched again only if it was not stored", async () => {
    files.fetch = async (url) => {
      fetched.push(url);
      return { bytes: WAVE };
    };
    await resolve(modelJob([{ url: URL_B, as_is: true }]));
    await resolve(modelJob([{ url: URL_B, as_is: true }]));
    expect(fetched).toEqual([URL_B]);
  });

  it("that is a video of this server is the file itself, not a still", async () => {
    const asset = await storeAsset("video");
    await database.db.query("test.setType", "update assets set media_type = 'video/mp4' where asset_id = $1", [
      asset.asset_id,
    ]);
    const { images } = await resolve(modelJob([{ asset: asset.asset_id, as_is: true }]));
    expect(images).toEqual([{ asset_id: asset.asset_id, media_type: "video/mp4", is_result: true }]);
  });
});
