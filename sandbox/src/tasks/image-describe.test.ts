// A description names what is in the image.
import { expect, test } from "vitest";
import { drawShapes, drawSvg, inlineImage, runToSuccess } from "../../test/images.ts";
import { startSandboxHarness } from "../../test/sandbox-harness.ts";

const task = "image.describe";
const textOf = (data: Record<string, unknown> | null) => data!.description as string;

test("colours, shapes and their places are named", async () => {
  const rig = await startSandboxHarness();
  const job = await runToSuccess(rig, { task, images: [inlineImage(await drawShapes())] });
  expect(job.outputs).toEqual([]);
  expect(job.data).toMatchObject({ width: 400, height: 300 });
  expect(textOf(job.data)).toBe(
    "An image in landscape format, mostly in grey, red and blue. It shows a red circle on the left and a blue square on the right. It is of medium brightness, with moderate contrast.",
  );
  expect(job.data!.tags).toEqual(expect.arrayContaining(["grey", "red", "blue", "circle", "square", "landscape"]));
  expect(job.data!.prompt).toContain("a red circle on the left and a blue square on the right");
});

test("another image has another description", async () => {
  const rig = await startSandboxHarness();
  const image = await drawSvg(
    200,
    300,
    `<rect width="200" height="300" fill="#101418"/><rect y="200" width="200" height="100" fill="#1f5a2a"/>`,
  );
  const { data } = await runToSuccess(rig, { task, images: [inlineImage(image)], options: { detail: "long" } });
  expect(textOf(data)).toMatch(/portrait.*black and green.*dark.*horizon runs across it at 67 %/);
});

test("the detail changes the length", async () => {
  const rig = await startSandboxHarness();
  const images = [inlineImage(await drawShapes())];
  const lengths = await Promise.all(
    ["short", "normal", "long"].map(
      async (detail) => textOf((await runToSuccess(rig, { task, images, options: { detail } })).data).length,
    ),
  );
  expect(lengths[0]).toBeLessThan(lengths[1]!);
  expect(lengths[1]).toBeLessThan(lengths[2]!);
});

test.each([
  ["de", "einen Kreis in Rot links"],
  ["fr-FR", "un cercle de couleur rouge à gauche"],
  ["es", "un círculo de color rojo a la izquierda"],
  ["xx", "a red circle on the left"],
])("in the language %s", async (language, text) => {
  const rig = await startSandboxHarness();
  const { data } = await runToSuccess(rig, { task, images: [inlineImage(await drawShapes())], options: { language } });
  expect(textOf(data)).toContain(text);
});

test("the directive garbage damages the data of a description", async () => {
  const rig = await startSandboxHarness();
  const { data } = await runToSuccess(rig, {
    task,
    prompt: "[sandbox:garbage]",
    images: [inlineImage(await drawShapes())],
  });
  expect(data).toEqual({ oops: true });
});
