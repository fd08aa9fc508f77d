import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { Fault } from "../../faults/faults.ts";
import type { ThumbnailFile } from "../../files/images/thumbnail.ts";
import { storeThumbnails } from "./store-thumbnails.ts";

const RUN = { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", tenant_id: "00000000-0000-7000-8000-000000000001" };
const FILE = { asset_id: "01990c3e-2f00-7000-8000-000000000001", file: Buffer.from("image") };
const thumbnailOf = (text: string, side: number): ThumbnailFile => ({
  ...{ bytes: Buffer.from(text), media_type: "image/webp", width: side, height: side },
});
const made = { small: thumbnailOf("small", 320), large: thumbnailOf("large", 640), thumbhash: "aGFzaA==" };

function setUp() {
  const objects = new Map<string, string>();
  const warnings: object[] = [];
  const put = async (key: string, bytes: Uint8Array) => void objects.set(key, Buffer.from(bytes).toString());
  const clock = createManualClock();
  const dependencies = {
    clock,
    assets: { storage: { put } as never },
    thumbnails: { make: async () => made },
    log: { warn: (fields: object) => void warnings.push(fields) },
  };
  return { clock, objects, warnings, dependencies };
}

it("thumbnails are stored beside their file, below the prefix of its tenant and run", async () => {
  const { clock, dependencies, objects, warnings } = setUp();
  const { references, files } = await storeThumbnails(dependencies, RUN, FILE);
  const keys = ["small", "large"].map((text) => createHash("sha256").update(text).digest("hex"));
  expect(files).toMatchObject([
    { role: "thumbnail", media_type: "image/webp", width: 320, height: 320, size_bytes: 5, sha256: keys[0] },
    { role: "thumbnail", media_type: "image/webp", width: 640, height: 640, size_bytes: 5, sha256: keys[1] },
  ]);
  expect(files.map((file) => objects.get(file.storage_key))).toEqual(["small", "large"]);
  for (const { storage_key } of files) expect(storage_key.startsWith(`t/${RUN.tenant_id}/r/${RUN.run_id}/`)).toBe(true);
  const [small, large] = files.map((file) => file.asset_id);
  expect(references).toEqual({ thumbnails: { small, large }, thumbhash: "aGFzaA==" });
  expect(warnings).toEqual([]);
  expect(clock.timers()).toEqual([]);
});

it("thumbnails of the same file have the same ids when the step is repeated after a crash", async () => {
  const { dependencies } = setUp();
  expect(await storeThumbnails(dependencies, RUN, FILE)).toEqual(await storeThumbnails(dependencies, RUN, FILE));
  const other = await storeThumbnails(dependencies, RUN, { ...FILE, asset_id: RUN.run_id });
  expect(other.references).not.toEqual((await storeThumbnails(dependencies, RUN, FILE)).references);
});

it("a file gets no thumbnails and no warning if they are switched off", async () => {
  const { dependencies, objects, warnings } = setUp();
  const off = { ...dependencies, thumbnails: { make: async () => undefined } };
  expect(await storeThumbnails(off, RUN, FILE)).toEqual({ references: {}, files: [] });
  expect([objects.size, warnings]).toEqual([0, []]);
});

it("a file whose thumbnails cannot be made or stored is kept without them, with a warning in the log", async () => {
  const { dependencies, warnings } = setUp();
  const failing = [
    { ...dependencies, thumbnails: { make: () => Promise.reject(new Fault("service_overloaded")) } },
    { ...dependencies, assets: { storage: { put: () => Promise.reject(new Error("disk full")) } as never } },
  ];
  for (const each of failing) expect(await storeThumbnails(each, RUN, FILE)).toEqual({ references: {}, files: [] });
  expect(warnings).toMatchObject([{ asset_id: FILE.asset_id }, { asset_id: FILE.asset_id }]);
});

it("a file whose thumbnails are not stored within 15 s is kept without them", async () => {
  const { clock, dependencies, warnings } = setUp();
  const stuck = { ...dependencies, assets: { storage: { put: () => new Promise(() => {}) } as never } };
  const stored = storeThumbnails(stuck, RUN, FILE);
  await clock.advance(14_999);
  expect(warnings).toEqual([]);
  await clock.advance(1);
  expect(await stored).toEqual({ references: {}, files: [] });
  expect(warnings).toMatchObject([{ asset_id: FILE.asset_id }]);
});

it("equal copies of a small image are one object with two rows", async () => {
  const { dependencies } = setUp();
  const keys: string[] = [];
  const put = async (key: string) => void keys.push(key);
  const equal = { small: made.small, large: made.small, thumbhash: made.thumbhash };
  const { files } = await storeThumbnails(
    { ...dependencies, assets: { storage: { put } as never }, thumbnails: { make: async () => equal } },
    RUN,
    FILE,
  );
  expect(keys).toEqual([files[0]!.storage_key]);
  expect(files[1]).toMatchObject({ storage_key: files[0]!.storage_key });
  expect(files[1]!.asset_id).not.toBe(files[0]!.asset_id);
});
