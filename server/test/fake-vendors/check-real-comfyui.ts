// `npm run comfyui:check -- http://127.0.0.1:8188`: tests the adapter against a real ComfyUI, without any weights. A
// CPU is enough for the server: clone it, `pip install -r requirements.txt`, `python main.py --cpu`. The check compares
// the nodes that the workflows need, and runs workflows with nodes that need no model.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import sharp from "sharp";
import type { Job } from "../../src/kit/operation.ts";
import { openProviderWebSocket } from "../../src/outbound/provider-websocket.ts";
import { readProviderFailure } from "../../src/providers/call-provider.ts";
import { graphNames, loadGraph } from "../../src/providers/comfyui/graph.ts";
import { comfyui } from "../../src/providers/comfyui.ts";
import type { Asset, JobNotification, Offer, Ticket } from "../../src/providers/provider.ts";
import { createFakeProviderContext } from "./provider-context.ts";
import { createImageAsset } from "./sample-jobs.ts";

const [url] = process.argv.slice(2);
if (!url) {
  console.log("Say where ComfyUI listens: npm run comfyui:check -- http://127.0.0.1:8188");
  process.exit(2);
}

/** Nodes that need no weights: a plain image, or an uploaded one, enlarged and saved. */
const slots = {
  width: { type: "integer", default: 64 },
  height: { type: "integer", default: 64 },
  count: { type: "integer", default: 1 },
  image: { type: "string" },
  upscale_factor: { type: "number", default: 1 },
  save_as: { type: "string" },
};
const nodes = {
  plain: { class_type: "EmptyImage", inputs: { width: "$width", height: "$height", batch_size: "$count", color: 0 } },
  image: { only_with: "image", else: ["plain", 0], class_type: "LoadImage", inputs: { image: "$image" } },
  enlarge: {
    class_type: "ImageScaleBy",
    inputs: { image: ["image", 0], upscale_method: "lanczos", scale_by: "$upscale_factor" },
  },
  save: { class_type: "SaveImage", inputs: { images: ["enlarge", 0], filename_prefix: "$save_as" } },
};
const folder = mkdtempSync(join(tmpdir(), "gesso-comfyui-"));
writeFileSync(join(folder, "plain.json"), JSON.stringify({ description: "no weights", slots, nodes }));

const settings = { COMFYUI_URLS: url, COMFYUI_GRAPHS: folder };
const stamp = Date.now();
let number = 0;
const at = (key = `check.${stamp}.${++number}`) =>
  createFakeProviderContext(settings, comfyui, { key, timeoutSeconds: 20 });
const offer: Offer = { ...comfyui.offers[0]!, upstreamModel: "plain" };
const job = (overrides: Partial<Job<Asset>> = {}): Job<Asset> => ({
  task: "image.generate",
  model: "flux-dev",
  prompt: "nothing",
  width: 96,
  height: 64,
  ...overrides,
});
const submit = async (overrides: Partial<Job<Asset>> = {}, context = at()): Promise<Ticket> => {
  const progress = await comfyui.submit(job(overrides), offer, context);
  if (progress.state !== "running") throw new Error("a server answers before the work is done");
  return progress.ticket;
};
async function waitForOutputs(ticket: Ticket) {
  for (const end = Date.now() + 120_000; Date.now() < end; await pause(200)) {
    const progress = await comfyui.poll(ticket, at());
    if (progress.state === "done") return progress.outputs as { url: string }[];
  }
  throw new Error("the job did not end within two minutes");
}
const kindOf = (work: Promise<unknown>) =>
  work.then(
    () => "none",
    (thrown) => `${thrown.code} ${readProviderFailure(thrown).kind} ${JSON.stringify(thrown.details ?? {})}`,
  );
const sizesOf = (outputs: { url: string }[]) =>
  Promise.all(
    outputs.map(async (output) => {
      const bytes = await (await fetch(output.url)).arrayBuffer();
      const { width, height, format } = await sharp(Buffer.from(bytes)).metadata();
      return `${width}x${height} ${format}`;
    }),
  );

let failed = 0;
async function check(description: string, work: () => Promise<{ passed: boolean; observed: string }>) {
  const { passed, observed } = await work().catch((thrown) => ({
    passed: false,
    observed: String(thrown?.cause?.cause ?? thrown),
  }));
  if (!passed) failed++;
  console.log(`${passed ? "ok    " : "FAILED"}  ${description} (${observed})`);
}

type Info = Record<string, { input: { required?: Record<string, unknown>; optional?: Record<string, unknown> } }>;

await check(
  "every node that our graphs use is there, with the inputs that we give and no other required one",
  async () => {
    const wrong: string[] = [];
    for (const name of graphNames) {
      for (const [id, { class_type, inputs }] of Object.entries((await loadGraph(name)).nodes)) {
        const info = ((await (await fetch(`${url}/object_info/${class_type}`)).json()) as Info)[class_type];
        const { required = {}, optional = {} } = info?.input ?? {};
        if (!info) wrong.push(`${name}: no ${class_type}`);
        for (const input of Object.keys(required)) if (!(input in inputs)) wrong.push(`${name}.${id} lacks ${input}`);
        // Inputs inside of inputs are not listed.
        const isKnown = (input: string) => input in required || input in optional || /[.]/.test(input);
        for (const input of Object.keys(inputs)) if (!isKnown(input)) wrong.push(`${name}.${id} has no ${input}`);
      }
    }
    return { passed: wrong.length === 0, observed: wrong.join("; ") || "all as we think" };
  },
);

await check("it is examined", async () => {
  const { message: description, missing } = await comfyui.probe!([offer, ...comfyui.offers], at());
  return {
    passed: !missing.includes("plain"),
    observed: `${description}; missing: ${missing.join(", ") || "nothing"}`,
  };
});

await check("it makes two images of the size asked for", async () => {
  const sizes = await sizesOf(await waitForOutputs(await submit({ count: 2, options: { upscale_factor: 2 } })));
  return { passed: sizes.join() === "192x128 png,192x128 png", observed: sizes.join() };
});

await check("it takes an uploaded image", async () => {
  const sizes = await sizesOf(await waitForOutputs(await submit({ images: [createImageAsset("uploaded", 48, 32)] })));
  return { passed: sizes.join() === "48x32 png", observed: sizes.join() };
});

await check("a job is found by its key, and another is not", async () => {
  const context = at();
  const ticket = await submit({}, context);
  const found = await comfyui.findJob!(context);
  const other = await comfyui.findJob!(at());
  return {
    passed: found?.prompt_id === ticket.prompt_id && !other,
    observed: JSON.stringify({ ticket, found, other }),
  };
});

await check("a second request under one id makes a second job", async () => {
  const context = at();
  const options = { upscale_factor: 3 };
  const [first, second] = [await submit({ options }, context), await submit({ options }, context)];
  const outputs = await waitForOutputs(second);
  const observed = `${first.prompt_id === second.prompt_id ? "same id" : "its own id"}, ${outputs[0]?.url.split("?")[1]}`;
  return { passed: first.prompt_id === second.prompt_id && outputs.length === 1, observed };
});

await check("kinds of invalid requests are distinguished", async () => {
  const lora = comfyui.offers.find(({ upstreamModel }) => upstreamModel === "flux-dev-lora")!;
  const input = { options: { model_id: "missing-lora" } };
  const observed = await kindOf(comfyui.submit(job(input), lora, at()));
  return { passed: /model_unavailable refused|lora_not_found/.test(observed), observed };
});

await check("a job that waits is taken out of the queue", async () => {
  const large = { width: 2048, height: 2048, count: 8, options: { upscale_factor: 2 } };
  const running = await submit(large);
  const waiting = await submit(large);
  await comfyui.cancel!(waiting, at());
  const stood = await kindOf(comfyui.poll(waiting, at()));
  await comfyui.cancel!(running, at());
  await comfyui.cancel!(running, at());
  return { passed: /gone|failed/.test(stood), observed: stood };
});

await check("its line tells the end of a job after the result can be read", async () => {
  const line = new AbortController();
  const received: (JobNotification & { state?: string })[] = [];
  const hear = async (news: JobNotification) => {
    if (news.ended)
      received.push({
        ...news,
        state: await comfyui.poll({ prompt_id: news.value, server: url }, at()).then(({ state }) => state),
      });
  };
  const listening = comfyui.watch!(comfyui.env.parse(settings), {
    onNotification: (news) => void hear(news),
    openWebSocket: openProviderWebSocket,
    signal: line.signal,
  });
  await pause(1000);
  const ticket = await submit();
  await waitForOutputs(ticket);
  await pause(1000);
  line.abort();
  await listening;
  const news = received.find(({ value }) => value === ticket.prompt_id);
  return { passed: news?.state === "done", observed: JSON.stringify(news ?? "nothing") };
});

rmSync(folder, { recursive: true, force: true });
console.log(`comfyui:check: ${failed === 0 ? "all passed" : `${failed} failed`}`);
process.exit(failed === 0 ? 0 : 1);
