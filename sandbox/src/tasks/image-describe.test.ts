// A description says what is there.
import { expect, test } from "vitest";
import { done, drawFlat, drawSvg, sent } from "../../test/pictures.ts";
import { openRig } from "../../test/rig.ts";

const task = "image.describe";
const textOf = (data: Record<string, unknown> | null) => data!.description as string;

test("colours, shapes and their places are named", async () => {
  const rig = await openRig();
  const job = await done(rig, { task, images: [sent(await drawFlat())] });
  expect(job.outputs).toEqual([]);
  expect(job.data).toMatchObject({ width: 400, height: 300 });
  expect(textOf(job.data)).toBe(
    "A picture in landscape format, mostly in grey, red and blue. It shows a red circle on the left and a blue square on the right. It is of medium brightness, with moderate contrast.",
  );
  expect(job.data!.tags).toEqual(expect.arrayContaining(["grey", "red", "blue", "circle", "square", "landscape"]));
  expect(job.data!.prompt).toContain("a red circle on the left and a blue square on the right");
});

test("another picture has another description", async () => {
  const rig = await openRig();
  const image = await drawSvg(
    200,
    300,
    `<rect width="200" height="300" fill="#101418"/><rect y="200" width="200" height="100" fill="#1f5a2a"/>`,
  );
  const { data } = await done(rig, { task, images: [sent(image)], options: { detail: "long" } });
  expect(textOf(data)).toMatch(/portrait.*black and green.*dark.*horizon runs across it at 67 %/);
});

test("the detail changes the length", async () => {
  const rig = await openRig();
  const images = [sent(await drawFlat())];
  const lengths = await Promise.all(
    ["short", "normal", "long"].map(
      async (detail) => textOf((await done(rig, { task, images, options: { detail } })).data).length,
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
])("in the language %s", async (language, words) => {
  const rig = await openRig();
  const { data } = await done(rig, { task, images: [sent(await drawFlat())], options: { language } });
  expect(textOf(data)).toContain(words);
});

test("garbage spoils data too", async () => {
  const rig = await openRig();
  const { data } = await done(rig, { task, prompt: "[sandbox:garbage]", images: [sent(await drawFlat())] });
  expect(data).toEqual({ oops: true });
});
