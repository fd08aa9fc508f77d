// Vendors have different mask conventions: white, black or transparent. The same masked edit must change the same
// pixels on every provider.
import sharp from "sharp";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fakeVendors } from "../fake-vendors/all.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { scene, sceneMask } from "./registry-requests.ts";

let environment: TestEnvironment;
let caller: ApiCaller;
let run: string;
let image: Buffer;
let mask: Buffer;
const changedBy = new Map<string, string>();

beforeAll(async () => {
  environment = await startTestEnvironment();
  caller = createHttpCaller(environment);
  [image, mask] = [await scene(), await sceneMask()];
  const form = new FormData();
  form.set("file", new File([new Uint8Array(image)], "scene.png", { type: "image/png" }));
  run = (await caller.post("/upload", form)).body.data.run_id;
});
afterAll(() => environment?.stop());

const pixels = async (bytes: Uint8Array) => sharp(bytes).removeAlpha().toColourspace("srgb").raw().toBuffer();

/** A letter for each pixel: changed or not. */
async function changes(before: Buffer, after: Buffer): Promise<string> {
  const [from, to] = [await pixels(before), await pixels(after)];
  expect(to.length).toBe(from.length);
  return Array.from({ length: from.length / 3 }, (_, at) =>
    from.subarray(at * 3, at * 3 + 3).equals(to.subarray(at * 3, at * 3 + 3)) ? "." : "x",
  ).join("");
}

const white = async (bytes: Buffer) => {
  const grey = await sharp(bytes).greyscale().raw().toBuffer();
  return Array.from(grey, (value) => (value > 127 ? "x" : ".")).join("");
};

it.each(["openai", "fal", "ideogram", "bfl"])("%s changes what is marked, and nothing else", async (id) => {
  const definition = fakeVendors.find((each) => each.id === id)!;
  const fakeVendor = await definition.start();
  try {
    // A killed process would hold the lease of the dispatcher for seconds.
    await environment.stopGracefully("api");
    await environment.start("api", { ...definition.env(fakeVendor), SANDBOX_URL: "", PUBLIC_URL_IS_REACHABLE: "true" });
    const { body } = await caller.post(
      "/edits/mask",
      { original_image_url: run, mask_image_url: `data:image/png;base64,${mask.toString("base64")}`, prompt: "a hat" },
      { accept: "application/json" },
    );
    const ended = await caller.waitUntilEnded(body.run_id, 40);
    expect([ended.status, ended.error]).toEqual(["completed", null]);
    const result = Buffer.from(await (await fetch(ended.image_url)).arrayBuffer());
    const changed = await changes(image, result);
    expect(changed === (await white(mask))).toBe(true);
    changedBy.set(id, changed);
  } finally {
    await fakeVendor.close();
  }
});

it("all four changed the same pixels", () => {
  expect(changedBy.size).toBe(4);
  expect(new Set(changedBy.values()).size).toBe(1);
});
