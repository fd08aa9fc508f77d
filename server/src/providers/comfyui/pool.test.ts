// Several servers behind one name: who gets a job, and that no job is lost with its server or made twice while one
// lives.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type ComfyuiOptions,
  type FakeComfyui,
  poolEnv,
  startFakeComfyui,
  startFakePool,
} from "../../../test/fake-vendors/comfyui.ts";
import { createFakeProviderContext } from "../../../test/fake-vendors/provider-context.ts";
import { createSampleJob } from "../../../test/fake-vendors/sample-jobs.ts";
import { until } from "../../../test/support/until.ts";
import type { Job } from "../../contract/operation.ts";
import { readProviderFailure } from "../call-provider.ts";
import { comfyui } from "../comfyui.ts";
import type { Asset, JobDone, ProviderContext, Ticket } from "../provider.ts";

let boxes: FakeComfyui[] = [];
const start = async (...options: ComfyuiOptions[]) => {
  await Promise.all(boxes.map((box) => box.close()));
  boxes = await Promise.all(options.map(startFakeComfyui));
};
beforeEach(async () => {
  boxes = await startFakePool(3);
});
afterEach(() => Promise.all(boxes.map((box) => box.close())));

let number = 0;
type More = Partial<ProviderContext<unknown>> & { settings?: Record<string, string> };
const at = ({ settings, ...rest }: More = {}) =>
  createFakeProviderContext({ ...poolEnv(boxes), ...settings }, comfyui, { key: `pool.0.${++number}`, ...rest });
const submit = async (upstreamModel: string, context = at(), overrides: Partial<Job<Asset>> = {}): Promise<Ticket> => {
  const offer = comfyui.offers.find((each) => each.upstreamModel === upstreamModel)!;
  const progress = await comfyui.submit(
    createSampleJob(offer, { width: 64, height: 64, ...overrides }),
    offer,
    context,
  );
  return (progress as { ticket: Ticket }).ticket;
};
const kindOf = (work: Promise<unknown>) =>
  work.then(
    () => "none",
    (thrown) => readProviderFailure(thrown).kind,
  );
const serverOf = ({ server }: Ticket) => boxes.findIndex(({ url }) => url === server);
const jobsOn = () => boxes.map(({ ledger }) => ledger.length);
async function ended(ticket: Ticket, context: ProviderContext<unknown>) {
  let progress = await comfyui.poll(ticket, context);
  await until(async () => {
    if (progress.state !== "done") progress = await comfyui.poll(ticket, context);
    return progress.state === "done";
  });
  return progress as JobDone;
}
const busy = (switches: FakeComfyui["switches"]) => Object.assign(switches, { workMs: 60_000 });

describe("a job goes", () => {
  it("to the server with the shortest queue", async () => {
    for (const { switches } of boxes) busy(switches);
    for (let n = 0; n < 9; n++) await submit("flux-dev");
    expect(jobsOn()).toEqual([3, 3, 3]);
  });

  it.each([["flux-dev"], ["wan-image-2.2"]])(
    "to the server that ran %s last, if queues are equally long",
    async (upstreamModel) => {
      const first = await submit(upstreamModel);
      await ended(first, at());
      for (let n = 0; n < 5; n++) {
        const next = await submit(upstreamModel);
        await ended(next, at());
        expect(next.server).toBe(first.server);
      }
    },
  );

  it("to a server that must load the model rather than to the end of a queue", async () => {
    const warm = await submit("flux-dev");
    await ended(warm, at());
    for (const { switches } of boxes) busy(switches);
    const placed: Ticket[] = [];
    for (let n = 0; n < 6; n++) placed.push(await submit("flux-dev"));
    expect(placed[0]!.server).toBe(warm.server);
    expect(new Set(placed.map(serverOf)).size).toBe(3);
  });

  it("to a server that has its files", async () => {
    const lacks = ["flux1-dev.safetensors"];
    await start({ lacks }, { lacks: ["our-lora.safetensors"] }, { lacks });
    for (let n = 0; n < 3; n++) expect(serverOf(await submit("flux-dev"))).toBe(1);
    const options = { lora_1: "our-lora" };
    for (let n = 0; n < 4; n++) expect(serverOf(await submit("qwen-image-edit", at(), { options }))).not.toBe(1);
  });

  it("past servers that refuse connections", async () => {
    await boxes[0]!.stopListening();
    await boxes[2]!.stopListening();
    for (let n = 0; n < 3; n++) expect(serverOf(await submit("flux-dev"))).toBe(1);
    await boxes[1]!.stopListening();
    expect(await kindOf(submit("flux-dev"))).toBe("unsent");
  });

  it("past a server that accepts connections and does not respond", async () => {
    const mute = createServer(() => {}).listen(0, "127.0.0.1");
    await once(mute, "listening");
    const { port } = mute.address() as AddressInfo;
    const settings = { COMFYUI_URLS: `http://127.0.0.1:${port},${boxes[0]!.url}` };
    expect(serverOf(await submit("flux-dev", at({ settings, timeoutSeconds: 8 })))).toBe(0);
    mute.close();
    mute.closeAllConnections();
  });

  it("to one server with one request, although the state of several is read", async () => {
    const posted: string[] = [];
    const context = at();
    const { send } = context;
    context.send = (url, request) => {
      if (request.method === "POST") posted.push(url);
      return send(url, request);
    };
    await submit("flux-dev-image", context);
    expect(posted.map((url) => new URL(url).pathname)).toEqual(["/upload/image", "/prompt"]);
  });
});

describe("a job whose response was lost", () => {
  it("is found on the server that accepted it", async () => {
    for (const { switches } of boxes) switches.drop = { times: 1, when: "after" };
    const context = at();
    expect(await kindOf(submit("flux-dev", context))).toBe("unknown");
    const ticket = await comfyui.findJob!(context);
    expect(boxes[serverOf(ticket!)]!.ledger).toHaveLength(1);
    await ended(ticket!, context);
    expect(jobsOn().reduce((sum, each) => sum + each)).toBe(1);
  });

  it("is not taken for absent while a server is unreachable", async () => {
    const context = at();
    expect(await comfyui.findJob!(context)).toBeUndefined();
    await boxes[1]!.stopListening();
    expect(await kindOf(comfyui.findJob!(context))).toBe("unsent");
    await boxes[1]!.startListening();
    expect(await comfyui.findJob!(context)).toBeUndefined();
  });

  it("is found although another server is unreachable", async () => {
    for (const { switches } of boxes) switches.drop = { times: 1, when: "after" };
    const context = at();
    await kindOf(submit("flux-dev", context));
    const taker = boxes.findIndex(({ ledger }) => ledger.length > 0);
    await boxes[(taker + 1) % 3]!.stopListening();
    expect(serverOf((await comfyui.findJob!(context))!)).toBe(taker);
  });
});

describe("a job whose server", () => {
  it("is unreachable is polled again, and counts as lost only after a delay", async () => {
    const ticket = await submit("flux-dev");
    const box = boxes[serverOf(ticket)]!;
    await box.stopListening();
    expect(await kindOf(comfyui.poll(ticket, at()))).toBe("unsent");
    expect(await kindOf(comfyui.poll(ticket, at({ unreachableSeconds: 20 })))).toBe("unsent");
    expect(await kindOf(comfyui.poll(ticket, at({ unreachableSeconds: 21 })))).toBe("gone");
    await box.startListening();
    expect((await ended(ticket, at({ unreachableSeconds: 15 }))).outputs).toHaveLength(1);
  });

  it("was restarted is lost, because no server knows it", async () => {
    const ticket = await submit("flux-dev");
    await ended(ticket, at());
    boxes[serverOf(ticket)]!.forgetJobs();
    expect(await kindOf(comfyui.poll(ticket, at()))).toBe("gone");
  });

  it("was restarted is not lost while another server is unreachable", async () => {
    const ticket = await submit("flux-dev");
    boxes[serverOf(ticket)]!.forgetJobs();
    await boxes[(serverOf(ticket) + 1) % 3]!.stopListening();
    expect(await kindOf(comfyui.poll(ticket, at()))).toBe("unsent");
    expect(await kindOf(comfyui.poll(ticket, at({ unreachableSeconds: 30 })))).toBe("gone");
  });

  it("has another URL now is found there", async () => {
    const ticket = await submit("flux-dev");
    const elsewhere = { ...ticket, server: boxes[(serverOf(ticket) + 1) % 3]!.url };
    const done = await ended(elsewhere, at());
    expect(done.outputs).toEqual([{ url: expect.stringContaining(ticket.server!) }]);
  });

  it("was removed from the settings is lost, and the token is not sent to that server again", async () => {
    await start({ token: "t" }, { token: "t" });
    const settings = { COMFYUI_TOKEN: "t" };
    const ticket = await submit("flux-dev", at({ settings }));
    const left = boxes[1 - serverOf(ticket)]!;
    const sent: string[] = [];
    const context = at({ settings: { ...settings, COMFYUI_URLS: left.url } });
    const { send } = context;
    context.send = (url, request) => {
      sent.push(new URL(url).origin);
      return send(url, request);
    };
    expect(await kindOf(comfyui.poll(ticket, context))).toBe("gone");
    await comfyui.cancel!(ticket, context);
    expect(new Set(sent)).toEqual(new Set([left.url]));
  });

  it("died is submitted to another server, once", async () => {
    const ticket = await submit("flux-dev", at({ key: "run.0.1" }));
    const dead = serverOf(ticket);
    boxes[dead]!.forgetJobs();
    await boxes[dead]!.stopListening();
    expect(await kindOf(comfyui.poll(ticket, at({ unreachableSeconds: 21 })))).toBe("gone");
    const anew = await submit("flux-dev", at({ key: "run.0.2" }));
    expect(serverOf(anew)).not.toBe(dead);
    await ended(anew, at());
    expect(
      jobsOn()
        .filter((_, index) => index !== dead)
        .sort(),
    ).toEqual([0, 1]);
  });
});

it("the probe reads all servers and reports only models that none of them has", async () => {
  await start(
    { lacks: ["flux1-dev.safetensors"] },
    { lacks: ["ae.safetensors", "wan2.2_vae.safetensors"] },
    { lacks: ["wan2.2_vae.safetensors"] },
  );
  await boxes[2]!.stopListening();
  const { message: says, missing } = await comfyui.probe!(comfyui.offers, at());
  expect(missing).toEqual(["flux-dev", "flux-dev-lora", "flux-dev-image", "flux-dev-image-lora"]);
  expect(says).toContain("2 of 3 servers respond");
  for (const box of boxes) await box.stopListening();
  expect(await kindOf(comfyui.probe!(comfyui.offers, at()))).toBe("unsent");
});

it("the provider is enabled with one or several URLs, and not with none or an invalid one", () => {
  const parse = (COMFYUI_URLS?: string) => comfyui.env.safeParse({ COMFYUI_URLS }).success;
  expect([parse("http://gpu-1:8188"), parse("http://gpu-1:8188, https://gpu.example.com/two/")]).toEqual([true, true]);
  expect([parse(), parse(""), parse("gpu-1:8188"), parse("http://gpu-1:8188,")]).toEqual([false, false, false, false]);
  const env = comfyui.env.parse({ COMFYUI_URLS: "http://gpu-1:8188,https://gpu.example.com/two/" });
  expect(comfyui.resultOrigins(env)).toEqual(["http://gpu-1:8188", "https://gpu.example.com"]);
});
