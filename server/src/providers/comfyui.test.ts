// The adapter against servers of all ages: what reaches a server, and what its answers mean to us.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PromptGraph } from "../../test/fake-vendors/comfyui/validate.ts";
import { type ComfyuiOptions, type FakeComfyui, poolEnv, startFakeComfyui } from "../../test/fake-vendors/comfyui.ts";
import { createFakeProviderContext } from "../../test/fake-vendors/provider-context.ts";
import { createAsset, createImageAsset, createSampleJob } from "../../test/fake-vendors/sample-jobs.ts";
import { until } from "../../test/support/until.ts";
import type { Job } from "../contract/operation.ts";
import { Fault } from "../faults/faults.ts";
import { readProviderFailure } from "./call-provider.ts";
import { loadGraph } from "./comfyui/graph.ts";
import { comfyui } from "./comfyui.ts";
import type { Asset, JobDone, ProviderContext, Ticket } from "./provider.ts";

const LORAS = { lora_low_name: "style-low", lora_high_name: "style-high" };

let box: FakeComfyui;
beforeEach(async () => {
  box = await startFakeComfyui();
});
afterEach(() => box.close());

const offerOf = (upstreamModel: string) => comfyui.offers.find((offer) => offer.upstreamModel === upstreamModel)!;
const jobOf = (upstreamModel: string, overrides: Partial<Job<Asset>> = {}) =>
  createSampleJob(offerOf(upstreamModel), overrides);
let number = 0;
const at = (overrides: Partial<ProviderContext<unknown>> & { env?: never; settings?: Record<string, string> } = {}) => {
  const { settings, ...rest } = overrides;
  return createFakeProviderContext({ ...poolEnv([box]), ...settings }, comfyui, { key: `run.0.${++number}`, ...rest });
};
const submit = (upstreamModel: string, overrides: Partial<Job<Asset>> = {}, context = at()) =>
  comfyui.submit(jobOf(upstreamModel, overrides), offerOf(upstreamModel), context);

async function ended(ticket: Ticket, context = at()): Promise<JobDone> {
  let progress = await comfyui.poll(ticket, context);
  await until(async () => {
    if (progress.state !== "done") progress = await comfyui.poll(ticket, context);
    return progress.state === "done";
  });
  return progress as JobDone;
}
const isJobRunning = async () => {
  const queue = (await (await fetch(`${box.url}/queue`)).json()) as { queue_running: unknown[] };
  return queue.queue_running.length > 0;
};
const make = async (upstreamModel: string, overrides: Partial<Job<Asset>> = {}) => {
  const progress = await submit(upstreamModel, overrides);
  return ended((progress as { ticket: Ticket }).ticket);
};
const lastGraph = () => (box.ledger.at(-1)!.request as { prompt: PromptGraph }).prompt;
const inputsOf = (id: string) => lastGraph()[id]!.inputs!;
const faultOf = async (work: Promise<unknown>) => {
  const thrown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(thrown).toBeInstanceOf(Fault);
  const { code, details } = thrown as Fault;
  return { code, kind: readProviderFailure(thrown).kind, details };
};
const another = async (options: ComfyuiOptions) => {
  await box.close();
  box = await startFakeComfyui(options);
};

describe("a submitted graph", () => {
  it("contains the prompt and the given values, and the graph's defaults for all others", async () => {
    await submit("flux-dev", { prompt: "a boat", negative_prompt: "fog", seed: 9, width: 640, height: 480, count: 3 });
    expect(inputsOf("words").text).toBe("a boat");
    expect(inputsOf("negative").text).toBe("fog");
    expect(inputsOf("latent")).toEqual({ width: 640, height: 480, batch_size: 3 });
    expect(inputsOf("sample")).toMatchObject({
      seed: 9,
      steps: 20,
      cfg: 1,
      sampler_name: "euler",
      scheduler: "simple",
    });
    expect(inputsOf("positive").guidance).toBe(3.5);
    expect(lastGraph()).not.toHaveProperty("lora");
    expect(lastGraph()).not.toHaveProperty("enlarge");
  });

  it("contains the caller's steps, guidance, sampler and upscale factor", async () => {
    const options = { steps: 8, guidance: 2, cfg_scale: 3, scheduler: "dpmpp_2m", upscale_factor: 2 };
    await submit("flux-dev", { width: 256, height: 256, options });
    expect(inputsOf("sample")).toMatchObject({ steps: 8, cfg: 3, sampler_name: "dpmpp_2m", scheduler: "simple" });
    expect(inputsOf("positive").guidance).toBe(2);
    expect(inputsOf("enlarge").scale_by).toBe(2);
    await submit("flux-dev", { options: { scheduler: "karras" } });
    expect(inputsOf("sample")).toMatchObject({ sampler_name: "euler", scheduler: "karras" });
  });

  it("names the file of a custom model, by its deployment if it has one", async () => {
    await submit("flux-dev-lora", { options: { model_id: "our-model", strength_model: 0.7 } });
    expect(inputsOf("lora")).toMatchObject({ lora_name: "our-model.safetensors", strength_model: 0.7 });
    await submit("wan-image-2.1", { options: { model_id: "our-model", deployment_id: "our-lora", model_weight: 0.3 } });
    expect(inputsOf("lora")).toMatchObject({ lora_name: "our-lora.safetensors", strength_model: 0.3 });
  });

  it("of Wan 2.1 creates two images", async () => {
    const { outputs } = await make("wan-image-2.1", { count: 2, width: 64, height: 64 });
    expect(inputsOf("latent")).toMatchObject({ length: 1, batch_size: 2 });
    expect(inputsOf("sample")).toMatchObject({ steps: 30, cfg: 6 });
    expect(outputs).toHaveLength(2);
  });

  it("of Wan 2.2 has a LoRA for each stage and splits the steps between the stages", async () => {
    const strengths = { lora_high_strength: 0.9, lora_low_strength: 0.2 };
    await submit("wan-image-2.2", {
      options: { model_id: "our-model", ...LORAS, ...strengths, steps: 9, guidance: 4 },
    });
    expect(inputsOf("lora_high")).toMatchObject({ lora_name: "style-high.safetensors", strength_model: 0.9 });
    expect(inputsOf("lora_low")).toMatchObject({ lora_name: "style-low.safetensors", strength_model: 0.2 });
    expect(inputsOf("sample_high")).toMatchObject({ steps: 9, cfg: 4, start_at_step: 0, end_at_step: 5 });
    expect(inputsOf("sample_low")).toMatchObject({ steps: 9, cfg: 4, start_at_step: 5, add_noise: "disable" });
  });

  it("of Qwen contains the image if there is one, and the LoRA if one is named", async () => {
    const images = [createImageAsset("a face")];
    await make("qwen-image-edit", {
      images,
      width: 64,
      height: 64,
      options: { lora_1: "our-lora", strength_model: 0.5 },
    });
    expect(inputsOf("picture").image).toMatch(/^gesso\/[0-9a-f-]{36}\.png$/);
    expect(inputsOf("lora")).toMatchObject({ lora_name: "our-lora.safetensors", strength_model: 0.5 });
    await make("qwen-image-edit", { images: undefined, width: 64, height: 64 });
    expect(lastGraph()).not.toHaveProperty("picture");
    expect(lastGraph()).not.toHaveProperty("lora");
  });

  it("has the aspect ratio of the reference if no size was requested", async () => {
    await submit("flux-dev-image", { images: [createImageAsset("wide", 320, 160)] });
    expect(inputsOf("scaled")).toMatchObject({ width: 1456, height: 720, crop: "center" });
    await submit("flux-dev-image", { images: [createImageAsset("wide", 320, 160)], width: 500, height: 300, count: 2 });
    expect(inputsOf("scaled")).toMatchObject({ width: 496, height: 304 });
    expect(inputsOf("latent").amount).toBe(2);
  });

  it("of a video has a frame count of 4n + 1 and the requested aspect ratio", async () => {
    const { outputs } = await make("wan-video-2.2", {
      aspect_ratio: "9:16",
      options: { duration: 2, fps: 12, cfg_scale: 4 },
    });
    expect(inputsOf("latent")).toMatchObject({ width: 704, height: 1280, length: 25 });
    expect(inputsOf("film").fps).toBe(12);
    expect(inputsOf("sample").cfg).toBe(4);
    expect(outputs).toEqual([{ url: expect.stringContaining(".mp4") }]);
  });

  it("has an ID and a seed that are derived from the idempotency key", async () => {
    const asked = async (key: string) => {
      await submit("flux-dev", {}, at({ key }));
      const { prompt_id, client_id } = box.ledger.at(-1)!.request;
      expect(prompt_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(client_id).toBe("gesso");
      return [prompt_id, inputsOf("sample").seed];
    };
    const first = await asked("one");
    expect(await asked("one")).toEqual(first);
    expect(await asked("two")).not.toEqual(first);
  });

  it("never contains a path from the caller", async () => {
    for (const name of ["../../etc/passwd", "a/b", "a\\b", ".hidden", "", "x".repeat(200)]) {
      const fault = await faultOf(submit("flux-dev-lora", { options: { model_id: name } }));
      expect(fault).toMatchObject({ code: "provider_rejected_input", details: { reason: "lora_not_found" } });
    }
    expect(box.ledger).toEqual([]);
  });

  it("uses the operator's file names and token", async () => {
    await another({ token: "secret" });
    const names = "ae.safetensors=qwen_image_vae.safetensors, flux1-dev.safetensors = wan2.2_ti2v_5B_fp16.safetensors";
    const settings = { COMFYUI_TOKEN: "secret", COMFYUI_FILES: names };
    await submit("flux-dev", {}, at({ settings }));
    expect(inputsOf("vae").vae_name).toBe("qwen_image_vae.safetensors");
    expect(inputsOf("unet").unet_name).toBe("wan2.2_ti2v_5B_fp16.safetensors");
    expect(box.invalidRequests).toEqual([]);
    const fault = await faultOf(submit("flux-dev", {}, at()));
    expect(fault).toMatchObject({ code: "model_unavailable", kind: "refused" });
  });

  afterEach(() => {
    expect(box.invalidRequests.filter((what) => !what.startsWith("no credentials"))).toEqual([]);
  });
});

describe("a response", () => {
  it("contains an image of the requested size, read from the server that created it", async () => {
    const { outputs } = await make("flux-dev", { width: 128, height: 64 });
    const [output] = outputs as { url: string }[];
    expect(new URL(output!.url).origin).toBe(new URL(box.url).origin);
    const bytes = Buffer.from(await (await fetch(output!.url)).arrayBuffer());
    expect(await sharp(bytes).metadata()).toMatchObject({ format: "png", width: 128, height: 64 });
  });

  it.each([
    [
      "a LoRA that is not there",
      { options: { model_id: "missing-one" } },
      { reason: "lora_not_found", lora: "missing-one" },
    ],
    [
      "a sampler that nobody knows",
      { options: { model_id: "our-model", scheduler: "magic" } },
      { reason: "scheduler_not_known" },
    ],
    ["a value that no node takes", { options: { model_id: "our-model", cfg_scale: 1000 } }, {}],
  ])("to %s is a rejected input, with the reason", async (_, overrides, details) => {
    const fault = await faultOf(submit("flux-dev-lora", overrides));
    expect(fault).toMatchObject({ code: "provider_rejected_input", kind: "refused", details });
    expect(box.ledger).toEqual([]);
  });

  it.each([["flux1-dev.safetensors"], ["clip_l.safetensors"], ["ae.safetensors"]])(
    "of a server without %s is model_unavailable, so that failover applies",
    async (file) => {
      box.switches.retired = [file];
      expect(await faultOf(submit("flux-dev"))).toMatchObject({
        code: "model_unavailable",
        kind: "refused",
        details: {},
      });
    },
  );

  it("of a wrong URL is model_unavailable", async () => {
    const settings = { COMFYUI_URLS: `${box.url}/elsewhere` };
    expect(await faultOf(submit("flux-dev", {}, at({ settings })))).toMatchObject({ code: "model_unavailable" });
  });

  it.each([["new"], ["middle"], ["old"]] as const)(
    "of the %s API without a node of a custom graph is model_unavailable, so that failover applies",
    async (age) => {
      await another({ age });
      const folder = mkdtempSync(join(tmpdir(), "gesso-graphs-"));
      const { slots, nodes } = await loadGraph("flux-dev");
      const custom = { slots, nodes: { ...nodes, extra: { class_type: "NodeOfAnExtension", inputs: {} } } };
      writeFileSync(join(folder, "flux-dev.json"), JSON.stringify(custom));
      const fault = await faultOf(submit("flux-dev", {}, at({ settings: { COMFYUI_GRAPHS: folder } })));
      rmSync(folder, { recursive: true });
      expect(fault).toMatchObject({ code: "model_unavailable", kind: "refused" });
      expect(box.ledger).toEqual([]);
    },
  );

  it.each([["new"], ["middle"], ["old"]] as const)(
    "of the %s API tells exhausted memory from refused content and from a cancellation",
    async (age) => {
      await another({ age });
      box.switches.outcome = "failed";
      expect(await faultOf(make("flux-dev"))).toMatchObject({ code: "provider_error", kind: "failed" });
      box.switches.outcome = "moderated";
      expect(await faultOf(make("flux-dev"))).toMatchObject({ code: "content_refused", kind: "refused" });
      box.switches.outcome = "done";
      expect(await faultOf(make("flux-dev", { prompt: "forbidden fruit" }))).toMatchObject({ code: "content_refused" });
      box.switches.workMs = 60_000;
      const progress = await submit("flux-dev");
      await until(isJobRunning);
      await fetch(`${box.url}/interrupt`, { method: "POST", body: "{}" });
      const stopped = await ended((progress as { ticket: Ticket }).ticket).catch((thrown) => thrown);
      expect(stopped).toMatchObject({ code: "provider_error" });
      expect(readProviderFailure(stopped)).toMatchObject({
        kind: "failed",
        cause: "the job was canceled on the server",
      });
    },
  );

  it("to an unreadable image is a rejected input", async () => {
    const images = [createAsset("no picture", async () => Buffer.from("no picture"))];
    const fault = await faultOf(make("qwen-image-edit", { images, width: 64, height: 64 }));
    expect(fault).toMatchObject({ code: "provider_rejected_input", details: { reason: "image_unreadable" } });
  });
});

describe.each([["new"], ["middle"], ["old"]] as const)("a server with the %s API", (age) => {
  beforeEach(() => another({ age }));

  it("creates an image, and its job is found by the key", async () => {
    const context = at();
    expect(await comfyui.findJob!(context)).toBeUndefined();
    box.switches.drop = { times: 1, when: "after" };
    expect(await faultOf(submit("flux-dev", { width: 64, height: 64 }, context))).toMatchObject({ kind: "unknown" });
    const ticket = await comfyui.findJob!(context);
    expect(ticket).toEqual({ prompt_id: box.ledger[0]!.id, server: box.url });
    expect((await ended(ticket!)).outputs).toHaveLength(1);
    expect(await comfyui.findJob!(context)).toEqual(ticket);
    expect(box.ledger).toHaveLength(1);
  });

  it("does not lose a job that ends between two requests", async () => {
    box.switches.workMs = 200;
    const { ticket } = (await submit("flux-dev", { width: 64, height: 64 })) as { ticket: Ticket };
    const slow = at();
    const { send } = slow;
    // The job ends after each answer and before the next question, whichever comes first.
    slow.send = async (url, request) => {
      const answer = await send(url, request);
      if (!url.includes("/api/jobs")) await ended(ticket);
      return answer;
    };
    expect((await comfyui.poll(ticket, slow)).state).toMatch(/running|done/);
  });

  it("cancels a waiting job and a running job, and no other", async () => {
    box.switches.workMs = 60_000;
    const [running, waiting] = [await submit("flux-dev"), await submit("flux-dev")] as { ticket: Ticket }[];
    await until(isJobRunning);
    expect(await comfyui.cancel!(waiting!.ticket, at())).toEqual({ isUncharged: true });
    expect(box.ledger.map(({ canceledAt }) => canceledAt !== undefined)).toEqual([false, true]);
    // It is gone from the queue: to be told so again must not hurt the one that runs.
    await comfyui.cancel!(waiting!.ticket, at());
    expect(box.ledger[0]!.canceledAt).toBeUndefined();
    expect(await comfyui.cancel!(running!.ticket, at())).toEqual({ isUncharged: false });
    expect(box.ledger[0]!.canceledAt).toBeDefined();
  });

  it("is probed for nodes and files without starting a job", async () => {
    const whole = await comfyui.probe!(comfyui.offers, at());
    expect(whole.missing).toEqual([]);
    expect(whole.message).toMatch(/1 of 1 servers respond; .* is ComfyUI 0\.(3|7)/);
    await another({ age, lacks: ["qwen_image_vae.safetensors", "flux1-dev.safetensors"] });
    const lacking = await comfyui.probe!(comfyui.offers, at());
    expect(lacking.missing).toEqual([
      "flux-dev",
      "flux-dev-lora",
      "flux-dev-image",
      "flux-dev-image-lora",
      "qwen-image-edit",
    ]);
    expect(lacking.message).toContain("lacks qwen_image_vae.safetensors for qwen-image-edit");
    expect(box.ledger).toEqual([]);
  });
});
