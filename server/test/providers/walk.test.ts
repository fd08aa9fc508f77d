// Every operation and every model of the interface through every vendor that offers it, end to end: over HTTP into a run, to
// the vendor's stand-in by the provider's own adapter, and back into our storage. The matrix is printed at the end.
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { providers } from "../../src/providers/all.ts";
import { canDo } from "../../src/providers/fit.ts";
import { type Caller, callerOf } from "../caller.ts";
import { registerKnownModels } from "../models.ts";
import { vendors } from "../vendors/all.ts";
import type { StandIn, VendorKit } from "../vendors/stand-in.ts";
import { startWorld, type World } from "../world.ts";
import { type Ask, everyAsk, scene, sceneMask } from "./asks.ts";

/** Only the vendor that is walked is switched on, so that nobody else can have made what is looked at. */
const ALONE = { SANDBOX_URL: "", PUBLIC_URL_IS_REACHABLE: "true", FAL_LORA_BASE_URL: "https://loras.example/files" };

let world: World;
let caller: Caller;
let asks: Ask[];
const made = new Map<string, Set<string>>();

beforeAll(async () => {
  world = await startWorld({ env: { FETCH_ALLOW_ORIGINS: "" } });
  caller = callerOf(world);
  await registerKnownModels(world);
  const upload = async (bytes: Buffer) => {
    const form = new FormData();
    form.set("file", new File([new Uint8Array(bytes)], "scene.png", { type: "image/png" }));
    const { body } = await caller.post("/upload", form);
    return body.data as { run_id: string; image_url: string };
  };
  const mask = await sceneMask();
  const [picture, maskRun] = [await upload(await scene()), await upload(mask)];
  asks = everyAsk({
    run: picture.run_id,
    url: picture.image_url,
    mask: `data:image/png;base64,${mask.toString("base64")}`,
    maskUrl: maskRun.image_url,
  });
});
afterAll(async () => {
  await world?.stop();
  const columns = vendors.map(({ id }) => id);
  const rows = asks.map(({ name }) => [name, ...columns.map((id) => (made.get(name)?.has(id) ? "x" : "·"))]);
  const line = ([name = "", ...cells]: string[]) =>
    name.padEnd(38) + cells.map((cell, n) => cell.padEnd(columns[n]!.length + 2)).join("");
  console.log([line(["", ...columns]), ...rows.map(line)].join("\n"));
});

/** A stand-in for the job that this ask leads to; enough for an offer to say whether it would take it. */
const jobOf = ({ task, model, body }: Ask) => {
  const urls = (body.image_urls ?? body.run_ids) as string[] | undefined;
  const isMasked = body.mask_url !== undefined || body.mask_image_url !== undefined;
  const images =
    urls ?? (task === "image.generate" && body.reference_image_url === undefined ? undefined : ["picture"]);
  const { lora_1, lora_low_name, lora_high_name, model_id } = body;
  const options = Object.fromEntries(
    Object.entries({ lora_1, lora_low_name, lora_high_name, model_id }).filter(([, value]) => value),
  );
  return {
    task,
    model,
    prompt: body.prompt as string | undefined,
    ...(task !== "prompt.enhance" && images && { images }),
    ...(isMasked && { mask: "mask" }),
    ...(Object.keys(options).length > 0 && { options }),
  };
};

describe.each(vendors.map((kit) => [kit.id, kit] as const))("%s", (id, kit: VendorKit) => {
  let standIn: StandIn;
  beforeAll(async () => {
    standIn = await kit.start();
    await world.kill("api");
    await world.start("api", { ...kit.env(standIn), ...ALONE });
  });
  afterAll(() => standIn?.close());

  it("makes everything that it offers, and every file is ours afterwards", async () => {
    const { offers } = providers.find((each) => each.id === id)!;
    const mine = asks.filter((ask) => offers.some((offer) => canDo(offer, jobOf(ask) as never)));
    expect(mine.length).toBeGreaterThan(0);
    await Promise.all(
      mine.map(async (ask) => {
        const { status, body } = await caller.post(ask.path, ask.body, { accept: "application/json" });
        expect([ask.name, status, body.code]).toEqual([
          ask.name,
          expect.toSatisfy((is: number) => is < 300),
          undefined,
        ]);
        const run = await caller.ended(body.run_id ?? body.data?.run_id ?? body.runId, 40);
        expect([ask.name, run.status, run.error]).toEqual([ask.name, "completed", null]);
        expect([ask.name, run.provider]).toEqual([ask.name, id]);
        expect(run.attempts[0]).toMatchObject({ provider: id, state: "succeeded", request: { method: "POST" } });
        await look(ask, run);
        made.set(ask.name, (made.get(ask.name) ?? new Set()).add(id));
      }),
    );
    expect(standIn.complaints).toEqual([]);
  }, 120_000);
});

async function look({ name, makes }: Ask, run: any): Promise<void> {
  if (makes === "words") return void expect([name, Object.keys(run.result ?? {}).length > 0]).toEqual([name, true]);
  const file = await fetch(run.outputs[0].url);
  const bytes = Buffer.from(await file.arrayBuffer());
  expect(run.outputs[0].url.startsWith(world.url)).toBe(true);
  if (makes === "video") return void expect(bytes.subarray(4, 8).toString()).toBe("ftyp");
  const { width, height } = await sharp(bytes).metadata();
  expect([width, height]).toEqual([run.outputs[0].width, run.outputs[0].height]);
}

it("everything is served by one vendor, and by two where two have it", () => {
  const short = asks.filter(({ name, by }) => (made.get(name)?.size ?? 0) < by);
  expect(
    short.map(({ name, by }) => `${name}: ${[...(made.get(name) ?? [])].join(", ") || "nobody"} of ${by}`),
  ).toEqual([]);
});
