// The adapter against real servers: nodes, results, uploads, look-ups, refusals, cancellations and notifications.

import { graphNames, loadGraph } from "../../src/providers/comfyui/graph.ts";
import { comfyui } from "../../src/providers/comfyui.ts";
import { createAsset, createImageAsset } from "../fake-vendors/sample-jobs.ts";
import type { Check } from "../support/checklist.ts";
import {
  type AdapterClient,
  describeFailure,
  describeImages,
  readQueueState,
  waitForQueueState,
} from "./adapter-client.ts";

type NodeInfo = Record<string, { input: { required?: Record<string, unknown>; optional?: Record<string, unknown> } }>;

/** What the built-in graphs need and the server does not have, or the other way round. */
async function compareNodes(server: string): Promise<string[]> {
  const differences: string[] = [];
  for (const name of graphNames) {
    for (const [id, { class_type, inputs }] of Object.entries((await loadGraph(name)).nodes)) {
      const info = ((await (await fetch(`${server}/object_info/${class_type}`)).json()) as NodeInfo)[class_type];
      const { required = {}, optional = {} } = info?.input ?? {};
      if (!info) differences.push(`${name}: no node ${class_type}`);
      for (const input of Object.keys(required))
        if (!(input in inputs)) differences.push(`${name}.${id} lacks ${input}`);
      // Inputs of an input, with a dot in their name, are not listed.
      for (const input of Object.keys(inputs))
        if (!(input in required || input in optional || input.includes(".")))
          differences.push(`${name}.${id} has no ${input}`);
    }
  }
  return differences;
}

export async function checkAdapter(check: Check, client: AdapterClient, servers: string[]): Promise<void> {
  const [server] = servers as [string];

  await check("the nodes of the built-in graphs exist, with the inputs that the graphs give", async () => {
    const differences = await compareNodes(server);
    return { passed: differences.length === 0, observed: differences.join("; ") || "no difference" };
  });

  await check("the probe reads version, nodes and files", async () => {
    const offers = [client.offerOf("flux-dev"), client.offerOf("with-missing-node"), ...comfyui.offers];
    const { message, missing } = await comfyui.probe!(offers, client.context());
    const passed = missing.includes("with-missing-node") && !missing.includes("flux-dev");
    return { passed, observed: `${message.split(";").slice(0, 2).join(";")}; missing: ${missing.join(", ")}` };
  });

  await check("a batch has the requested count, size and pixels", async () => {
    const ticket = await client.submit("flux-dev", { count: 2, options: { upscale_factor: 2 } });
    const images = await describeImages(await client.waitForOutputs(ticket));
    return { passed: images.join() === "192x128 png 128,128,128,192x128 png 128,128,128", observed: images.join() };
  });

  await check("an uploaded image is used", async () => {
    const images = [createImageAsset("uploaded", 48, 32)];
    const ticket = await client.submit("flux-dev-image", { images });
    const [image] = await describeImages(await client.waitForOutputs(ticket));
    return { passed: image === "48x32 png 128,128,128", observed: String(image) };
  });

  await check("a job is found by its key, and no other job is", async () => {
    const at = client.context();
    const ticket = await client.submit("flux-dev", {}, at);
    const found = await comfyui.findJob!(at);
    const other = await comfyui.findJob!(client.context());
    await client.waitForOutputs(ticket);
    return { passed: found?.prompt_id === ticket.prompt_id && !other, observed: JSON.stringify({ found, other }) };
  });

  await check("a second request with the same ID is a second job under that ID", async () => {
    const at = client.context();
    const [first, second] = [await client.submit("flux-dev", {}, at), await client.submit("flux-dev", {}, at)];
    const outputs = await client.waitForOutputs(second);
    return { passed: first.prompt_id === second.prompt_id && outputs.length === 1, observed: "same ID" };
  });

  await check("refusals are distinguished: a missing base model, a missing node, an unreadable image", async () => {
    const lora = comfyui.offers.find(({ upstreamModel }) => upstreamModel === "flux-dev-lora")!;
    const job = client.jobOf({ options: { model_id: "missing-lora" } });
    const model = await describeFailure(comfyui.submit(job, lora, client.context()));
    const node = await describeFailure(client.submit("with-missing-node"));
    const images = [createAsset("no image", async () => Buffer.from("no image"))];
    const image = await describeFailure(
      client.submit("flux-dev-image", { images, width: 64, height: 64 }).then(client.waitForOutputs),
    );
    const passed =
      model.startsWith("model_unavailable refused") &&
      node.startsWith("model_unavailable refused") &&
      image.includes("image_unreadable");
    return { passed, observed: [model, node, image].join("; ") };
  });

  await check("a waiting job is canceled at once and uncharged, and the running one goes on", async () => {
    const running = await client.submit("qwen-image-edit");
    await waitForQueueState(running, "running");
    const at = client.context();
    const waiting = await client.submit("flux-dev", {}, at);
    if (waiting.server !== running.server) return { passed: true, observed: "the pool gave it to an idle server" };
    const { isUncharged } = await client.cancel(waiting);
    const failure = await describeFailure(client.poll(waiting));
    const other = await readQueueState(running);
    await client.cancel(running);
    await waitForQueueState(running, "absent");
    const passed = isUncharged && /provider_error (gone|failed)/.test(failure) && other === "running";
    return { passed, observed: `isUncharged ${isUncharged}; ${failure}; the other is ${other}` };
  });

  await check("a running job is canceled, and reads as canceled", async () => {
    const ticket = await client.submit("qwen-image-edit");
    await waitForQueueState(ticket, "running");
    const { isUncharged } = await client.cancel(ticket);
    const began = Date.now();
    await waitForQueueState(ticket, "absent");
    const stopped = Date.now() - began;
    const thrown = await client.poll(ticket).catch((reason) => reason);
    const cause = String(thrown?.cause?.cause);
    const passed = !isUncharged && cause.includes("canceled");
    return { passed, observed: `isUncharged ${isUncharged}; ${cause}; stopped after ${stopped} ms` };
  });

  await check("progress rises, and the end is reported when the result can be read", async () => {
    const own = await client.watchJob(async () => {
      const ticket = await client.submit("with-progress", { width: 1024, height: 1024 });
      await client.waitForOutputs(ticket);
      return ticket;
    });
    const progress = own.flatMap((notification) => notification.progress ?? []);
    const rises = progress.every((value, index) => index === 0 || value > progress[index - 1]!);
    const passed = own.at(-1)?.ended === true && progress.length > 2 && rises;
    return { passed, observed: `${progress.length} values from ${progress[0]} to ${progress.at(-1)}, then ended` };
  });
}
