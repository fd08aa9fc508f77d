// Images of all compositions and sizes, and the influence of the prompt.
import sharp from "sharp";
import { expect, test } from "vitest";
import { drawImage } from "./draw-image.ts";
import { parseScenePrompt } from "./scene-prompt.ts";
import { type SceneName, scenes } from "./scenes.ts";

const order = { prompt: "a hill", model: "m", width: 128, height: 128, seed: 1, index: 0 };

test.each([
  [16, 16],
  [16, 2048],
  [2048, 16],
  [100, 97],
  [512, 512],
])("an image can be %i by %i", async (width, height) => {
  const image = await drawImage({ ...order, prompt: "a cat by the sea in the snow", width, height });
  expect(await sharp(image).metadata()).toMatchObject({ format: "png", width, height, channels: 3 });
});

test.each(Object.keys(scenes) as SceneName[])(
  "the composition %s can be drawn and is not a single colour",
  async (name) => {
    const text: Partial<Record<SceneName, string>> = {
      mountains: "mountain",
      hills: "hill",
      shapes: "geometric",
      ribbons: "silk",
    };
    const prompt = text[name] ?? name;
    expect(parseScenePrompt(prompt).scene).toBe(name);
    const { channels } = await sharp(await drawImage({ ...order, prompt })).stats();
    expect(Math.max(...channels.map((channel) => channel.stdev))).toBeGreaterThan(5);
  },
);

test("a colour in the prompt tints the image", async () => {
  const meanOf = async (prompt: string) => {
    const { channels } = await sharp(await drawImage({ ...order, prompt })).stats();
    return channels.map((channel) => channel.mean) as [number, number, number];
  };
  const [red, , blueInRed] = await meanOf("a red mountain at noon");
  const [redInBlue, , blue] = await meanOf("a blue mountain at noon");
  expect(red).toBeGreaterThan(blueInRed);
  expect(blue).toBeGreaterThan(redInBlue);
});

test("a prompt with markup and special characters is drawn safely", async () => {
  const image = await drawImage({ ...order, prompt: `<svg>"&'</svg> 日本 \u0000 ${"long ".repeat(500)}` });
  expect((await sharp(image).metadata()).width).toBe(128);
});

test("the parser finds scene, time of day, weather, colours and figures", () => {
  expect(parseScenePrompt("A red fox and two cats in a snowy forest at night")).toEqual({
    colours: ["#d63a3a"],
    scene: "forest",
    hour: "snow",
    weather: "snow",
    figures: ["fox", "cat"],
  });
});

test.each([
  ["a red bicycle by the sea", { figures: ["bicycle"], scene: "sea" }],
  ["a mug", { figures: ["mug"] }],
  ["a dog", { figures: ["dog"] }],
  ["a cat", { figures: ["cat"] }],
  ["a car", { figures: ["car"] }],
  ["a person", { person: "standing" }],
  ["a portrait of a woman", { person: "portrait" }],
  ["a mountain", { scene: "mountains" }],
  ["green hills", { scene: "hills" }],
  ["a lighthouse with birds", { figures: ["lighthouse", "birds"] }],
  ["a city", { scene: "city" }],
  ["a house", { figures: ["house"] }],
  ["a tree", { figures: ["tree"] }],
  ["a flower", { figures: ["flower"] }],
  ["a boat", { figures: ["boat"] }],
  ["a robot", { figures: ["robot"] }],
  ["an astronaut", { figures: ["astronaut"] }],
  ["a product on a table", { figures: ["bottle"], scene: "studio" }],
  ["food", { figures: ["food"] }],
  ["a chair", { figures: ["chair"] }],
  ["a bird", { figures: ["bird"] }],
  ["a fish", { figures: ["fish"] }],
])("the prompt %j is drawn as what it names", async (prompt, named) => {
  expect(parseScenePrompt(prompt)).toMatchObject(named);
  const request = { ...order, width: 200, height: 200, seed: 5, isBare: true };
  const subject = await sharp(await drawImage({ ...request, prompt }))
    .raw()
    .toBuffer();
  const other = await sharp(await drawImage({ ...request, prompt: `${prompt} and a lighthouse` }))
    .raw()
    .toBuffer();
  expect(subject.equals(other)).toBe(false);
});

test("an image has a stamp, unless it becomes part of another", async () => {
  const darkest = async (isBare: boolean) => {
    const image = await drawImage({ ...order, prompt: "a white studio", width: 400, height: 400, isBare });
    const { channels } = await sharp(image).extract({ left: 18, top: 18, width: 30, height: 10 }).stats();
    return channels[0]!.min;
  };
  expect(await darkest(true)).toBeGreaterThan(90);
  expect(await darkest(false)).toBeLessThan(70);
});
