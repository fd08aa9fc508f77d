// The ledger shows requests as received: images by name, and their bytes on request.
import { expect, test } from "vitest";
import { drawMask, drawShapes, inlineImage } from "../../test/images.ts";
import { startSandboxHarness, TEST_KEY } from "../../test/sandbox-harness.ts";

test("an entry shows the request as received, and its images can be read", async () => {
  const rig = await startSandboxHarness();
  const [image, mask] = [await drawShapes(), await drawMask()];
  const input = { task: "image.edit", model: "replay/x+black", prompt: "make it snow", seed: 7, options: { a: 1 } };
  await rig.post({ ...input, images: [inlineImage(image)], mask: inlineImage(mask) });
  const [entry] = (await rig.call("GET", "/v1/ledger")).body.data as unknown as { request: Record<string, any> }[];
  expect(entry!.request).toMatchObject({ ...input, count: 1 });
  const file = async (name: string) => {
    const response = await fetch(`${rig.url()}/v1/ledger/inputs/${name}`, {
      headers: { authorization: `Bearer ${TEST_KEY}` },
    });
    return Buffer.from(await response.arrayBuffer());
  };
  expect((await file(entry!.request.images[0].file)).equals(image)).toBe(true);
  expect((await file(entry!.request.mask.file)).equals(mask)).toBe(true);
  expect((await rig.call("GET", "/v1/ledger/inputs/ledger.jsonl")).status).toBe(404);
});
