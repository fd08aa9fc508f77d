// `npm run images -- guide`: makes the images of the guide, docs/pictures, again: starts Gesso and repeats the requests
// of the guide with the sandbox. Every picture has twice the pixels of the size that it is shown in.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startGesso } from "@gesso/dev/start";
import sharp from "sharp";
import { createApiRequests } from "./showcase/api-requests.ts";
import { drawRow } from "./showcase/picture-row.ts";
import { drawTree } from "./showcase/picture-tree.ts";

const FOLDER = "docs/pictures";
const MAX_PICTURE_BYTES = 400_000;
const SIZE = { width: 960, height: 640 };

const folder = mkdtempSync(join(tmpdir(), "gesso-pictures-"));
const gesso = await startGesso({ dataDir: folder, ephemeral: true, log: () => {} });
const { send, requestJson, download, run, waitUntilEnded } = createApiRequests(gesso);

const imagesOf = async (finished: { image_urls: string[] }) => Promise.all(finished.image_urls.map(download));
const imageOf = async (finished: { image_url: string }) => download(finished.image_url);
const generate = (prompt: string, more: object = {}) => run("/runs/generate", { prompt, ...SIZE, seed: 7, ...more });

async function save(name: string, picture: Buffer): Promise<void> {
  const path = join(FOLDER, `${name}.webp`);
  const { width, height } = await sharp(picture).metadata();
  writeFileSync(path, await sharp(picture).webp({ quality: 86, effort: 6 }).toBuffer());
  const bytes = statSync(path).size;
  if (bytes > MAX_PICTURE_BYTES) throw new Error(`${path} has ${bytes} bytes; the limit is ${MAX_PICTURE_BYTES}.`);
  console.log(`${path}: ${width} x ${height}, ${Math.round(bytes / 1000)} kB`);
}

const drawMask = (inside: string) =>
  sharp(Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="640" height="640">${inside}</svg>`))
    .removeAlpha()
    .png()
    .toBuffer();

async function showGeneration(): Promise<void> {
  const prompts = [
    "a lighthouse above the clouds",
    "a city at night in the rain",
    "a quiet forest in autumn, morning mist",
  ];
  const runs = [await generate(prompts[0]!, { seed: 6 }), await generate(prompts[1]!, { seed: 12 })];
  runs.push(await generate(prompts[2]!, { seed: 9 }));
  await save("three-runs", await drawRow(await Promise.all(runs.map(imageOf)), 320));
  const batch = await generate("a lighthouse by the sea at dusk", { batch_size: 3 });
  await save("generate", await drawRow(await imagesOf(batch), 210));
}

async function showEdits(): Promise<void> {
  const house = await generate("a house in a meadow, sunny", { width: 640, height: 640 });
  const winter = await run("/edits/vendora", { run_id: house.run_id, prompt: "make it winter, with snow" });
  const night = await run("/edits/flux-kontext", {
    original_run_id: winter.run_id,
    model: "flux-kontext-max",
    prompt: "make it night and add the moon",
  });
  const upperPart = `<rect width="640" height="640" fill="#000"/><rect width="640" height="330" fill="#fff"/>`;
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(await drawMask(upperPart))], { type: "image/png" }), "mask.png");
  form.set("isMask", "true");
  form.set("parent_id", house.run_id);
  const mask = await requestJson("POST", "/upload", form);
  const sky = await run("/edits/gemini-2.5", {
    run_id: house.run_id,
    mask_url: mask.data.run_id,
    prompt: "make it night, with stars",
  });
  await save("edit", await drawRow(await Promise.all([house, winter, night, sky].map(imageOf)), 230));

  const wide = await generate("a house in a meadow, sunny");
  const frame = (fields: object) => run("/edits/reframe", { run_id: wide.run_id, ...fields });
  const reframed = [
    await frame({ aspect_ratio: "16:9" }),
    await frame({ aspect_ratio: "1:1", grid_position_x: 0, grid_position_y: 320 }),
    await frame({ aspect_ratio: "4:3", x_start: 480, x_end: 1120, y_start: 160, y_end: 640 }),
  ];
  await save("reframe", await drawRow(await Promise.all([wide, ...reframed].map(imageOf)), 200));
}

async function showCombinations(): Promise<void> {
  const lighthouse = await generate("a lighthouse by the sea at dusk");
  const balloon = await generate("a red balloon over hills");
  const house = await generate("a house in a meadow, sunny");
  const images = [lighthouse.run_id, balloon.run_id, house.run_id];
  const grid = await run("/combine", { images, mode: "grid", gap: 24, background: "#20242c" });
  const overlay = await run("/combine", { images: images.slice(0, 2), mode: "overlay", opacity: 0.5 });
  const model = await run("/combine/nanobanana", { run_ids: images.slice(0, 2), prompt: "both in one image" });
  await save("combine", await drawRow(await Promise.all([grid, overlay, model].map(imageOf)), 210));
}

async function showCharacters(): Promise<void> {
  const portrait = await generate("a red balloon over hills");
  const character = (fields: object) =>
    run("/runs/character", {
      ...{ character_reference_run_id: portrait.run_id, aspect_ratio: "3:2", resolution: "1024", seed: 1 },
      ...fields,
    });
  const forest = await character({ prompt: "walking in a snowy forest" });
  const beach = await character({ prompt: "walking on the beach at sunset" });
  const meadow = await generate("a house in a meadow, sunny");
  const placed = await character({ prompt: "waving", image: meadow.run_id });
  await save("characters", await drawRow(await Promise.all([portrait, forest, beach, placed].map(imageOf)), 170));
}

async function showObjects(): Promise<void> {
  const hills = await generate("a red balloon over green hills");
  const found = await send("POST", "/edits/segment", { run_id: hills.run_id, prompt: "the balloon" });
  const mask = Buffer.from(await found.arrayBuffer());
  const cut = await run("/edits/extract", { run_id: hills.run_id, prompt: "the balloon" });
  const removed = await run("/edits/generative-remove", { run_id: hills.run_id, prompt: "the balloon" });
  const edited = await send("POST", "/edits/mask", {
    original_image_url: hills.run_id,
    mask_image_url: found.headers.get("x-run-id"),
    prompt: "make it blue",
  });
  const blue = Buffer.from(await edited.arrayBuffer());
  const [first, object, rest] = await Promise.all([hills, cut, removed].map(imageOf));
  await save("cut-out", await drawRow([first!, mask, object!, rest!, blue], 150));

  const maskRun = await run("/edits/extract", { run_id: hills.run_id, prompt: "the balloon", mode: "mask" });
  const edit = await run("/edits/vendora", {
    run_id: hills.run_id,
    mask_url: maskRun.run_id,
    prompt: "make it blue",
  });
  const combined = await run("/combine", { images: [hills.run_id, edit.run_id] });
  const [extract, vendora, pair] = await Promise.all([maskRun, edit, combined].map(imageOf));
  await save("tree", await drawTree({ generate: first!, extract: extract!, edit: vendora!, combine: pair! }));
}

async function showTexts(): Promise<void> {
  const lighthouse = await generate("a lighthouse by the sea");
  const enhance = { prompt: "a cat by the sea", model_type: "flux-dev", style: "watercolour", seed: 2, sync: true };
  const { enhanced_prompt } = await requestJson("POST", "/prompts/enhance", enhance);
  const cat = await generate(enhanced_prompt, { width: 640, height: 640 });
  await save("describe", await drawRow(await Promise.all([lighthouse, cat].map(imageOf)), 220));
}

async function showVideo(): Promise<void> {
  const boat = await generate("a red boat on the sea at dawn", { width: 1280, height: 720 });
  const body = { source_run_id: boat.run_id, prompt: "the boat sails on", duration: 1, fps: 12 };
  const video = await waitUntilEnded((await requestJson("POST", "/runs/video", body)).run_id);
  const file = join(folder, "boat.mp4");
  writeFileSync(file, await download(video.video_url));
  const frameAt = async (seconds: string) => {
    const frame = ["-ss", seconds, "-i", file, "-frames:v", "1", "-f", "image2pipe", "-c:v", "png", "-"];
    const limits = { encoding: "buffer" as const, maxBuffer: 32 * 1024 * 1024 };
    return (await promisify(execFile)("ffmpeg", ["-v", "error", ...frame], limits)).stdout;
  };
  await save("video", await drawRow(await Promise.all(["0", "0.3", "0.6", "0.9"].map(frameAt)), 130));
}

const GROUPS: Record<string, () => Promise<void>> = {
  generation: showGeneration,
  edits: showEdits,
  combinations: showCombinations,
  characters: showCharacters,
  objects: showObjects,
  texts: showTexts,
  video: showVideo,
};
/** Names of groups after the command, or all. */
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(GROUPS);

try {
  for (const name of wanted) await GROUPS[name]!();
} finally {
  await gesso.stop();
  rmSync(folder, { recursive: true, force: true });
}
