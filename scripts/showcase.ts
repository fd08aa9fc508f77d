// `npm run images -- showcase`: starts Gesso, runs every operation that creates a run once with the sandbox, and draws
// the results on one sheet, docs/pictures/showcase.webp. Fails if such an operation of the registry is missing.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startGesso } from "@gesso/dev/start";
import sharp from "sharp";
import { operations } from "../server/src/operations/all.ts";
import { createApiRequests, type RequestBody } from "./showcase/api-requests.ts";
import { type Card, renderContactSheet } from "./showcase/contact-sheet.ts";

const SHEET = "docs/pictures/showcase.webp";
const MAX_SHEET_BYTES = 800_000;
const SIZE = { width: 400, height: 300 };

const folder = mkdtempSync(join(tmpdir(), "gesso-showcase-"));
const gesso = await startGesso({ dataDir: folder, ephemeral: true, log: () => {} });
const cards: Card[] = [];

const { send, requestJson, download, waitUntilEnded, run: createRun } = createApiRequests(gesso);

const addCard = (name: string, caption: string, shown: { image?: Buffer; text?: string }) => {
  cards.push({ name, caption, ...shown });
  console.log(`${String(cards.length).padStart(2)}  ${name}`);
};

/** An operation whose run produces an image. */
async function showRunOperation(name: string, path: string, body: RequestBody, caption: string): Promise<any> {
  const run = await createRun(path, body);
  addCard(name, caption, { image: await download(run.image_url) });
  return run;
}

/** An operation that returns the image itself. */
async function showBytesOperation(name: string, path: string, body: RequestBody, caption: string): Promise<string> {
  const response = await send("POST", path, body);
  addCard(name, caption, { image: Buffer.from(await response.arrayBuffer()) });
  return response.headers.get("x-run-id")!;
}

const fileForm = (bytes: Buffer, fields: Record<string, string> = {}) => {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(bytes)], { type: "image/png" }), "image.png");
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  return form;
};

const drawn = (inside: string) =>
  sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300" width="400" height="300">${inside}</svg>`,
    ),
  )
    .removeAlpha()
    .png()
    .toBuffer();

const STILL_LIFE = `<rect width="400" height="300" fill="#e9e2d3"/><rect y="205" width="400" height="95" fill="#cdb898"/>
  <circle cx="120" cy="165" r="62" fill="#d8382c"/><rect x="215" y="112" width="98" height="118" fill="#2b5fc4"/>
  <path d="M312 240l38-70 38 70Z" fill="#e3a61c"/>`;
const MASK = `<rect width="400" height="300" fill="#000"/><circle cx="290" cy="95" r="80" fill="#fff"/>`;

async function showGeneration() {
  const sea = await showRunOperation(
    "images.generate",
    "/runs/generate",
    { prompt: "a lighthouse by the sea at sunset, with birds", ...SIZE, seed: 4 },
    "a lighthouse by the sea at sunset",
  );
  const meadow = (
    await requestJson("POST", "/runs/generate", {
      prompt: "a meadow in spring with a tree",
      ...SIZE,
      seed: 8,
      sync: true,
    })
  ).run_id;
  const still = await requestJson("POST", "/upload", fileForm(await drawn(STILL_LIFE)));
  addCard("images.upload", "an uploaded file", { image: await download(still.data.image_url) });
  const mask = await requestJson("POST", "/upload", fileForm(await drawn(MASK), { isMask: "true", parent_id: meadow }));
  addCard("images.uploadMask", "white areas change", { image: await download(mask.data.image_url) });
  return { sea: sea.run_id as string, meadow: meadow as string, still: still.data.run_id, mask: mask.data.run_id };
}

type Images = Awaited<ReturnType<typeof showGeneration>>;

async function makeEdits({ sea, meadow, mask }: Images): Promise<void> {
  const edit = (name: string, path: string, prompt: string, more: object) =>
    showRunOperation(`images.edit.${name}`, `/edits/${path}`, { prompt, seed: 3, ...more }, prompt);
  await edit("vendora", "vendora", "make it night", { run_id: sea });
  await edit("fluxKontext", "flux-kontext", "make it snow", { original_run_id: sea, model: "flux-kontext-max" });
  await edit("nanobanana", "nanobanana", "as a black and white photograph", { run_id: sea });
  await edit("gemini25", "gemini-2.5", "add a red balloon", { run_id: meadow, mask_url: mask });
  const masked = { original_image_url: meadow, mask_image_url: mask, prompt: "turn it purple" };
  await showBytesOperation("edit.maskImage", "/edits/mask", masked, "turn it purple, within a mask");
  await showRunOperation(
    "images.reframe",
    "/edits/reframe",
    { run_id: sea, aspect_ratio: "21:9" },
    "the first image, 21:9",
  );
  const large = await showRunOperation(
    "images.upscale",
    "/edits/upscale",
    { run_id: sea, factor: 2 },
    "twice as large: ",
  );
  cards.at(-1)!.caption += `${large.outputs[0].width} x ${large.outputs[0].height}`;
  await showRunOperation(
    "images.vary",
    "/edits/vary",
    { run_id: sea, n: 1, seed: 7 },
    "a variation of the first image",
  );
}

async function showCombination({ sea, meadow, still }: Images): Promise<void> {
  const sources = { run_ids: [meadow, sea] };
  await showRunOperation(
    "images.combine",
    "/combine",
    { images: [sea, meadow, still, sea], mode: "grid", gap: 12 },
    "a grid with a gap",
  );
  for (const [name, path] of [
    ["nanobanana", "nanobanana"],
    ["gemini25", "gemini-2.5"],
  ]) {
    await showRunOperation(
      `images.combine.${name}`,
      `/combine/${path}`,
      { prompt: "both in one image", ...sources },
      "both in one image",
    );
  }
  const character = { character_reference_run_id: still, resolution: "720", seed: 5 };
  await showRunOperation(
    "images.character",
    "/runs/character",
    { prompt: "in a forest", aspect_ratio: "4:3", ...character },
    "a person in the colours of the reference",
  );
  const images = [{ image_reference: sea, tag: "postcard" }];
  const reference = { prompt: "@postcard in the desert", aspect_ratio: "4:3", resolution: "720p", images };
  await showRunOperation("images.reference", "/runs/reference", reference, "@postcard in the desert");
}

async function showSegmentation({ still }: Images): Promise<string> {
  await showBytesOperation(
    "images.segmentImage",
    "/edits/segment",
    { run_id: still, prompt: "the red circle" },
    "the red circle",
  );
  await showBytesOperation("images.removeBackground", "/edits/remove-bg", { run_id: still }, "returns the image");
  await showRunOperation("images.backgroundRemove", "/edits/background-remove", { run_id: still }, "returns a URL");
  const prompt = "the blue square";
  await showRunOperation("images.genRemove", "/edits/generative-remove", { run_id: still, prompt }, prompt);
  const run = await showRunOperation("images.extract", "/edits/extract", { run_id: still, prompt }, prompt);
  return run.run_id;
}

async function makeVideo({ sea }: Images): Promise<void> {
  const body = { source_run_id: sea, prompt: "rain falls", duration: 2, fps: 12 };
  const run = await waitUntilEnded((await requestJson("POST", "/runs/video", body)).run_id);
  const file = join(folder, "video.mp4");
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, await download(run.video_url));
  const frame = ["-ss", "1", "-i", file, "-frames:v", "1", "-f", "image2pipe", "-c:v", "png", "-"];
  const { stdout } = await promisify(execFile)("ffmpeg", ["-v", "error", ...frame], {
    encoding: "buffer",
    maxBuffer: 32 * 1024 * 1024,
  });
  addCard("generateVideo", "rain falls, a frame of two seconds", { image: stdout });
}

async function showTextOperations({ sea }: Images, extraction: string): Promise<void> {
  const { description, tags } = await requestJson("POST", "/images/describe", { run_id: sea, sync: true });
  addCard("images.describe", "a description of the first image", {
    text: `${description}\n${tags.slice(0, 6).join(", ")}`,
  });
  const enhanced = await requestJson("POST", "/prompts/enhance", { prompt: "a fox", seed: 2, sync: true });
  addCard("prompts.enhance", "a fox", { text: enhanced.enhanced_prompt });
  const { layers } = (await requestJson("GET", `/runs/${extraction}/layers`)).data;
  const size = (layer: any) => `${layer.width} x ${layer.height} at ${layer.x}, ${layer.y}`;
  addCard("edit.getLayers", "of the extraction", {
    text: [...layers]
      .reverse()
      .map((layer: any) => `${layer.z_index}  ${layer.kind}: ${size(layer)}`)
      .join("\n"),
  });
  const prompt = await requestJson("POST", "/prompts", { name: "Fox", text: "a fox in the snow", tags: ["animals"] });
  const shown = (each: any) => `${each.name}, version ${each.version}\n"${each.text}"\n${each.tags.join(", ")}`;
  addCard("prompts.create", "a stored prompt", { text: shown(prompt) });
  const updated = await requestJson("PATCH", `/prompts/${prompt.id}`, { text: "a fox in the snow, at dusk" });
  addCard("prompts.update", "a new version", { text: shown(updated) });
  addCard("prompts.get", "the first version", {
    text: shown(await requestJson("GET", `/prompts/${prompt.id}?version=1`)),
  });
  const { data } = await requestJson("GET", "/prompts");
  addCard("prompts.list", "all stored prompts", { text: data.map(shown).join("\n") });
  await send("DELETE", `/prompts/${prompt.id}`);
  const left = (await requestJson("GET", "/prompts")).data.length;
  addCard("prompts.delete", "a deleted prompt", { text: `Fox is deleted.\n${left} prompts are left.` });
}

async function showRunOperations({ sea }: Images): Promise<void> {
  const run = await requestJson("GET", `/runs/${sea}`);
  addCard("runs.get", "the first run", {
    text: `${run.run_type}\n${run.status}\nmodel ${run.model}\nprovider ${run.provider}`,
  });
  const list = (await requestJson("GET", "/runs?limit=7")).data;
  addCard("runs.list", "the latest runs", {
    text: list.map((each: any) => `${each.status}  ${each.run_type}`).join("\n"),
  });
  const tree = await requestJson("GET", `/runs/${sea}/tree`);
  const children = tree.nodes.filter((node: any) => node.parent_run_id === sea);
  addCard("runs.tree", "runs made from the first run", {
    text: [run.run_type, ...children.map((node: any) => `- ${node.run_type}`)].join("\n"),
  });
  const input = { prompt: "a fox", batch_size: 4 };
  const estimate = await requestJson("POST", "/runs/estimate", { operation: "images.generate", input });
  const basis = estimate.basis.map((each: any) => `${each.quantity} x ${each.what} at ${each.unit_price}`);
  const amount = estimate.known ? `${estimate.amount} ${estimate.currency}` : "not known";
  addCard("runs.estimate", "four images by the sandbox", { text: [amount, ...basis].join("\n") });
  const open = await requestJson("POST", "/runs/generate", { prompt: "[sandbox:never] x", ...SIZE });
  await requestJson("POST", `/runs/${open.run_id}/cancel`);
  const headers = { authorization: `Bearer ${gesso.key}`, prefer: "wait=30" };
  const canceled: any = await (await fetch(`${gesso.url}/api/v1/runs/${open.run_id}`, { headers })).json();
  addCard("runs.cancel", "a run that would never end", { text: `${canceled.status}\n${canceled.error.message}` });
  await send("DELETE", `/runs/${open.run_id}`);
  const gone = await fetch(`${gesso.url}/api/v1/runs/${open.run_id}`, { headers });
  const { code, message }: any = await gone.json();
  addCard("runs.delete", "a deleted run", { text: `${gone.status} ${code}\n${message}` });
}

try {
  const images = await showGeneration();
  await makeEdits(images);
  await showCombination(images);
  const extraction = await showSegmentation(images);
  await makeVideo(images);
  await showTextOperations(images, extraction);
  await showRunOperations(images);
  const missing = operations
    .filter(({ plan }) => plan !== undefined)
    .filter(({ name }) => !cards.some((card) => card.name === name));
  if (missing.length > 0) throw new Error(`Missing on the sheet: ${missing.map(({ name }) => name).join(", ")}`);
  const sheet = await renderContactSheet("Gesso: every operation once, with the sandbox", cards);
  if (sheet.length > MAX_SHEET_BYTES)
    throw new Error(`The sheet has ${sheet.length} bytes; the limit is ${MAX_SHEET_BYTES}.`);
  writeFileSync(SHEET, sheet);
  console.log(`${SHEET}: ${cards.length} operations, ${Math.round(sheet.length / 1000)} kB`);
} finally {
  await gesso.stop();
  rmSync(folder, { recursive: true, force: true });
}
