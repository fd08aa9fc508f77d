import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, expect } from "vitest";
import { drawScene } from "../support/scene.ts";
import { it } from "./http-and-client.ts";
import {
  countDifferentPixels,
  decodePixels,
  describeRefusal,
  fetchRun,
  postForBytes,
  rightHalfMask,
  toDataUrl,
  withoutDelay,
} from "./response-checks.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();
const PATH = "/edits/mask";
const PNG = Buffer.from("89504e470d0a1a0a", "hex");
const isLeft = (x: number) => x < 64;

let sourceImage: Buffer;
let mask: Buffer;
beforeAll(async () => {
  [sourceImage, mask] = await Promise.all([drawScene(), rightHalfMask()]);
});

const inline = (fields: object = {}) => ({
  original_image_url: toDataUrl(sourceImage),
  mask_image_url: toDataUrl(mask),
  prompt: withoutDelay("turn it purple"),
  ...fields,
});
const edited = async (body: unknown) => {
  const response = await postForBytes(suite, PATH, body);
  expect([response.status, response.body]).toEqual([200, null]);
  expect(response.headers.get("content-type")).toBe("image/png");
  expect(response.bytes.subarray(0, 8)).toEqual(PNG);
  return { ...response, after: await decodePixels(response.bytes) };
};
const addressOf = async (bytes: Buffer) =>
  (await suite.caller.get(`/runs/${await suite.uploadImage(bytes)}`)).body.image_url;

it("[MSK-001] JSON with two URLs returns a PNG and the run ID", async () => {
  const original_image_url = suite.imageUrl();
  const { headers, after } = await edited({ original_image_url, mask_image_url: await addressOf(mask) });
  expect([after.width, after.height]).toEqual([128, 96]);
  expect((await fetchRun(suite, { headers })).inputs.original_image_url).toBe(original_image_url);
});

it("[MSK-002] a form with two files returns a PNG", async () => {
  const files = { original_image_url: sourceImage, mask_image_url: mask };
  const { after } = await edited(suite.form({ ...files, prompt: withoutDelay("turn it purple") }));
  expect([after.width, after.height]).toEqual([128, 96]);
});

it("[MSK-003] the run is a mask-edit whose parent is the edited run, and without one it has no parent", async () => {
  const original_image_url = await suite.uploadImage(sourceImage);
  const fromRun = await edited(inline({ original_image_url, mask_image_url: await suite.uploadImage(mask) }));
  expect(await fetchRun(suite, fromRun)).toMatchObject({ run_type: "mask-edit", parent_run_id: original_image_url });
  expect(await fetchRun(suite, await edited(inline()))).toMatchObject({ run_type: "mask-edit", parent_run_id: null });
});

it("[MSK-004] original and mask are both required, each at its path", async () => {
  const { original_image_url, mask_image_url } = inline();
  expect(describeRefusal(await suite.caller.post(PATH, { mask_image_url }))).toEqual([
    400,
    "validation_error",
    "/original_image_url required",
  ]);
  expect(describeRefusal(await suite.caller.post(PATH, { original_image_url }))).toEqual([
    400,
    "validation_error",
    "/mask_image_url required",
  ]);
});

it("[MSK-005] each of the two may be an address, base64 or a run", async () => {
  const waysOf = async (bytes: Buffer) => [
    await addressOf(bytes),
    toDataUrl(bytes),
    bytes.toString("base64"),
    await suite.uploadImage(bytes),
  ];
  const [originals, masks] = [await waysOf(sourceImage), await waysOf(mask)];
  const before = await decodePixels(sourceImage);
  for (const [index, original_image_url] of originals.entries()) {
    const { after } = await edited(inline({ original_image_url, mask_image_url: masks.at(index - 1) }));
    expect(countDifferentPixels(before, after, isLeft)).toBe(0);
    expect(countDifferentPixels(before, after, (x) => !isLeft(x))).toBeGreaterThan(1000);
  }
});

it("[MSK-006] a prompt may be given and is shown in the inputs", async () => {
  const reported = await edited(inline({ prompt: withoutDelay("a green plant") }));
  expect((await fetchRun(suite, reported)).inputs.prompt).toBe(withoutDelay("a green plant"));
  const { prompt: _prompt, ...wordless } = inline();
  expect((await fetchRun(suite, await edited(wordless))).inputs).not.toHaveProperty("prompt");
});

it("[MSK-007] what is black in the mask stays as it was, and what is white changes", async () => {
  const before = await decodePixels(sourceImage);
  const { after } = await edited(inline());
  expect(countDifferentPixels(before, after, isLeft)).toBe(0);
  expect(countDifferentPixels(before, after, (x) => !isLeft(x))).toBeGreaterThan((64 * 96) / 2);
});

it("[MSK-008] without a prompt the white region is removed and filled", async () => {
  const { prompt: _prompt, ...wordless } = inline();
  const before = await decodePixels(sourceImage);
  const { after } = await edited(wordless);
  expect([after.width, after.height]).toEqual([128, 96]);
  expect(countDifferentPixels(before, after, isLeft)).toBe(0);
  const [, , blueBefore] = before.at(96, 48);
  const [red, , blue, alpha] = after.at(96, 48);
  expect([blueBefore! - before.at(96, 48)[0]! > 150, blue! - red! < 60, alpha]).toEqual([true, true, 255]);
  for (let x = 64; x < 128; x++) for (let y = 0; y < 96; y++) expect(after.at(x, y)[3]).toBe(255);
});

it("[MSK-009] an upstream URL in a request is rejected, and no request is sent to it", async () => {
  let calls = 0;
  const elsewhere = createServer((_, response) => response.end()).on("connection", () => calls++);
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  const edit_server_url = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  const reply = await suite.caller.post(PATH, inline({ edit_server_url }));
  expect(describeRefusal(reply)).toEqual([400, "validation_error", "/edit_server_url unknown_field"]);
  // A request after it has been served, so nothing of the first one is left to do.
  expect((await postForBytes(suite, PATH, inline({}))).status).toBe(200);
  expect(calls).toBe(0);
  await new Promise((resolve) => elsewhere.close(resolve));
});

it("[MSK-011] a mask of another shape is refused as JSON with both sizes, and one of another size is scaled", async () => {
  const files = { original_image_url: sourceImage, mask_image_url: await rightHalfMask(64, 64) };
  const response = await postForBytes(suite, PATH, suite.form(files));
  expect([response.status, response.body.code]).toEqual([422, "mask_mismatch"]);
  expect(response.body.message).toMatch(/64x64.*128x96/);
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);

  const before = await decodePixels(sourceImage);
  for (const [width, height] of [
    [64, 48],
    [256, 192],
  ] as const) {
    const { after } = await edited(inline({ mask_image_url: toDataUrl(await rightHalfMask(width, height)) }));
    expect([after.width, after.height]).toEqual([128, 96]);
    expect(countDifferentPixels(before, after, isLeft)).toBe(0);
    expect(countDifferentPixels(before, after, (x) => !isLeft(x))).toBeGreaterThan((64 * 96) / 2);
  }
});
