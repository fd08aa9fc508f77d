// A common ComfyUI client against the fake server: it must understand every response. What the client does not support
// is tested over the socket.
import { Client } from "@stable-canvas/comfyui-client";
import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { ComfyuiAge } from "./comfyui/nodes.ts";
import { type FakeComfyui, startFakeComfyui } from "./comfyui.ts";
import { drawTestImage } from "./result-files.ts";

const GRAPH = {
  unet: { class_type: "UNETLoader", inputs: { unet_name: "flux1-dev.safetensors", weight_dtype: "default" } },
  clip: {
    class_type: "DualCLIPLoader",
    inputs: { clip_name1: "t5xxl_fp16.safetensors", clip_name2: "clip_l.safetensors", type: "flux" },
  },
  words: { class_type: "CLIPTextEncode", inputs: { clip: ["clip", 0], text: "a boat" } },
  latent: { class_type: "EmptySD3LatentImage", inputs: { width: 64, height: 32, batch_size: 2 } },
  sample: {
    class_type: "KSampler",
    inputs: {
      ...{ model: ["unet", 0], positive: ["words", 0], negative: ["words", 0], latent_image: ["latent", 0] },
      ...{ seed: 7, steps: 4, cfg: 1, sampler_name: "euler", scheduler: "simple", denoise: 1 },
    },
  },
  vae: { class_type: "VAELoader", inputs: { vae_name: "ae.safetensors" } },
  decode: { class_type: "VAEDecode", inputs: { samples: ["sample", 0], vae: ["vae", 0] } },
  save: { class_type: "SaveImage", inputs: { images: ["decode", 0], filename_prefix: "boat" } },
};

let box: FakeComfyui;
let client: Client;
const connect = async (age: ComfyuiAge) => {
  box = await startFakeComfyui({ age });
  client = new Client({ api_host: new URL(box.url).host, clientId: "tester", WebSocket, fetch });
  await client.connect();
  await expect.poll(() => box.lines()).toBe(1);
};
afterEach(async () => {
  client.close();
  await box.close();
});

const post = async (path: string, body: unknown) => {
  const response = await fetch(`${box.url}${path}`, { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : undefined };
};
const get = async (path: string) => {
  const response = await fetch(`${box.url}${path}`);
  return { status: response.status, body: await response.json().catch(() => undefined) };
};

describe.each([["new"], ["middle"], ["old"]] as const)("a server with the %s API", (age) => {
  beforeEach(() => connect(age));

  it("is submitted, awaited over the websocket, and returns the images", async () => {
    box.switches.workMs = 500;
    const steps: number[] = [];
    const { images, prompt_id } = await client.enqueue(GRAPH, {
      progress: ({ value, max }) => steps.push(value / max),
    });
    expect(prompt_id).toBe(box.ledger[0]!.id);
    expect(images).toHaveLength(2);
    expect(steps.length).toBeGreaterThan(1);
    const bytes = await fetch((images[0] as { data: string }).data).then((response) => response.arrayBuffer());
    expect(await sharp(Buffer.from(bytes)).metadata()).toMatchObject({ width: 64, height: 32, format: "png" });
    expect(box.invalidRequests).toEqual([]);
  });

  it("is submitted, awaited by polling the queue, and returns the images", async () => {
    const { images } = await client.enqueue_polling(GRAPH, { polling_ms: 20 } as object);
    expect(images).toHaveLength(2);
    const { History } = await client.getHistory();
    expect(History[0]).toMatchObject({ status: { status_str: "success", completed: true } });
  });

  it("runs one job at a time, in order", async () => {
    const queue = async () =>
      ((await client.queuePrompt(0, { prompt: GRAPH, workflow: {} })) as { prompt_id: string }).prompt_id;
    box.switches.outcome = "never";
    const first = await queue();
    box.switches.outcome = "done";
    const others = [await queue(), await queue()];
    await expect.poll(async () => (await client.getQueue()).Running.length).toBe(1);
    expect((await client.getQueue()).Pending).toHaveLength(2);
    await client.interrupt(first);
    for (const id of others) await client.waitForPrompt(id, 10, 3000);
    expect(Object.keys((await get("/history")).body)).toEqual([first, ...others]);
    expect(Object.keys((await get("/history?max_items=1")).body)).toEqual([others[1]]);
  });

  it("stops the running job and removes the waiting one", async () => {
    box.switches.outcome = "never";
    const [running, waiting] = [
      await client.queuePrompt(0, { prompt: GRAPH, workflow: {} }),
      await client.queuePrompt(0, { prompt: GRAPH, workflow: {} }),
    ] as { prompt_id: string }[];
    await expect.poll(async () => (await client.getQueue()).Running.length).toBe(1);
    await client.deleteItem("queue", waiting!.prompt_id);
    await client.interrupt(running!.prompt_id);
    await client.waitForPrompt(running!.prompt_id, 10, 3000);
    const { body } = await get(`/history/${running!.prompt_id}`);
    expect(body[running!.prompt_id].status.messages.at(-1)[0]).toBe("execution_interrupted");
    expect((await get(`/history/${waiting!.prompt_id}`)).body).toEqual({});
  });

  it("describes its nodes, its files and itself", async () => {
    const nodes = await client.getNodeDefs();
    expect(Object.keys(nodes)).toContain("KSampler");
    expect((await client.getSystemStats()).system).toMatchObject({ os: "linux" });
    expect((await get("/object_info/Nothing")).body).toEqual({});
    expect((await get("/models/vae")).body).toContain("ae.safetensors");
    expect((await get("/models/nothing")).status).toBe(404);
    const { input } = (await get("/object_info/VAELoader")).body.VAELoader;
    expect(input.required.vae_name[0]).toEqual(age === "new" ? "COMBO" : expect.arrayContaining(["ae.safetensors"]));
  });

  it("validates a graph against its nodes, and reports errors by node", async () => {
    const wrong = structuredClone(GRAPH) as typeof GRAPH & Record<string, { inputs: Record<string, unknown> }>;
    wrong.unet!.inputs.unet_name = "nothing.safetensors";
    wrong.sample!.inputs.steps = 0;
    wrong.decode!.inputs.samples = ["words", 0];
    const { status, body } = await post("/prompt", { prompt: wrong });
    expect([status, body.error.type]).toEqual([400, "prompt_outputs_failed_validation"]);
    const types = (id: string) => body.node_errors[id].errors.map(({ type }: { type: string }) => type);
    expect(types("unet")).toEqual(["value_not_in_list"]);
    expect(types("sample")).toEqual(["value_smaller_than_min"]);
    expect(types("decode")).toEqual(["return_type_mismatch"]);
    const { save: _, ...endless } = GRAPH;
    expect((await post("/prompt", { prompt: endless })).body.error.type).toBe("prompt_no_outputs");
    const otherTenant = { ...GRAPH, odd: { class_type: "Odd", inputs: {} } };
    const missing = (await post("/prompt", { prompt: otherTenant })).body.error.type;
    expect(missing).toBe(age === "new" ? "missing_node_type" : "invalid_prompt");
    expect((await post("/prompt", {})).body.error.type).toBe("no_prompt");
    expect(box.ledger).toEqual([]);
  });

  it("creates a second job for a second request with the same ID", async () => {
    const prompt_id = "0f8fad5b-d9cb-469f-a165-70867728950e";
    expect((await post("/prompt", { prompt: GRAPH, prompt_id })).status).toBe(200);
    expect((await post("/prompt", { prompt: GRAPH, prompt_id })).body.prompt_id).toBe(prompt_id);
    expect(box.ledger.map(({ id }) => id)).toEqual([prompt_id, prompt_id]);
  });

  it("stores an uploaded image under its name, for use in a graph", async () => {
    const upload = async (overwrite: string) => {
      const form = new FormData();
      form.set("image", new Blob([Buffer.from(await drawTestImage("x"))]), "x.png");
      form.set("subfolder", "gesso");
      form.set("overwrite", overwrite);
      return (await fetch(`${box.url}/upload/image`, { method: "POST", body: form })).json();
    };
    expect(await upload("true")).toEqual({ name: "x.png", subfolder: "gesso", type: "input" });
    expect(await upload("true")).toMatchObject({ name: "x.png" });
    expect(await upload("false")).toMatchObject({ name: "x (1).png" });
    const load = (image: string) => ({
      a: { class_type: "LoadImage", inputs: { image } },
      save: { class_type: "SaveImage", inputs: { images: ["a", 0], filename_prefix: "y" } },
    });
    expect((await post("/prompt", { prompt: load("gesso/x.png") })).status).toBe(200);
    const refused = (await post("/prompt", { prompt: load("gesso/z.png") })).body;
    expect(refused.node_errors.a.errors[0].type).toBe("custom_validation_failed");
  });

  it("forgets all jobs after a restart", async () => {
    const { prompt_id } = await client.enqueue_polling(GRAPH, { polling_ms: 20 } as object);
    box.forgetJobs();
    expect((await get(`/history/${prompt_id}`)).body).toEqual({});
    expect(box.ledger).toHaveLength(1);
  });
});

describe("the APIs differ", () => {
  it("in valid IDs, and in the lookup of a job by its ID", async () => {
    await connect("new");
    const spelled = { prompt: GRAPH, prompt_id: "0F8FAD5B-D9CB-469F-A165-70867728950E" };
    expect((await post("/prompt", spelled)).body.error.type).toBe("invalid_prompt_id");
    const { prompt_id } = (await post("/prompt", { prompt: GRAPH })).body;
    await expect.poll(async () => (await get(`/api/jobs/${prompt_id}`)).body.status).toBe("completed");
    expect((await get("/api/jobs/0f8fad5b-d9cb-469f-a165-70867728950e")).body).toEqual({ error: "Job not found" });
    expect((await post(`/api/jobs/${prompt_id}/cancel`, {})).body).toEqual({ cancelled: false });
  });

  it("in routes that the old one does not have", async () => {
    await connect("old");
    const { prompt_id } = (await post("/prompt", { prompt: GRAPH })).body;
    expect((await get(`/api/jobs/${prompt_id}`)).status).toBe(404);
    const posted = await fetch(`${box.url}/api/jobs/${prompt_id}/cancel`, { method: "POST" });
    expect(posted.status).toBe(405);
  });
});
