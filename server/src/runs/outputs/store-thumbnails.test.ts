import { expect, it } from "vitest";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { storeThumbnails, type ThumbnailDependencies } from "./store-thumbnails.ts";

const RUN = { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", tenant_id: "00000000-0000-7000-8000-000000000001" };
const SOURCE = { asset_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4e", file: new Uint8Array() };
const copy = (text: string) => ({ bytes: Buffer.from(text), media_type: "image/webp" as const, width: 8, height: 8 });
const MADE = { small: copy("small"), large: copy("large"), thumbhash: "x" };
type Made = Awaited<ReturnType<ThumbnailDependencies["thumbnails"]["make"]>>;

function setUp(put = async () => {}) {
  const clock = createManualClock();
  const make = Promise.withResolvers<Made>();
  const stored: string[] = [];
  const dependencies = {
    clock,
    thumbnails: { make: () => make.promise },
    assets: { storage: { put: (key: string) => put().then(() => void stored.push(key)) } },
    log: { warn: () => {} },
  } as unknown as ThumbnailDependencies;
  return { clock, make, stored, result: storeThumbnails(dependencies, RUN, SOURCE) };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

it("Thumbnails that are made in time are stored, and the file refers to them", async () => {
  const { make, stored, result } = setUp();
  make.resolve(MADE);
  expect((await result).files).toHaveLength(2);
  expect(stored).toHaveLength(2);
});

it("Thumbnails that are made after 15 s are not stored: no row would name them", async () => {
  const { clock, make, stored, result } = setUp();
  await clock.advance(15_000);
  expect(await result).toEqual({ references: {}, files: [] });
  make.resolve(MADE);
  await settled();
  expect(stored).toEqual([]);
});

it("Thumbnails whose storing takes longer than 15 s have their rows, because they are in the storage", async () => {
  const written = Promise.withResolvers<void>();
  const { clock, make, stored, result } = setUp(() => written.promise);
  make.resolve(MADE);
  await settled();
  await clock.advance(30_000);
  written.resolve();
  expect((await result).files).toHaveLength(2);
  expect(stored).toHaveLength(2);
});
