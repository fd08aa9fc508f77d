// Registry test: calls every operation and model on every provider that offers it, end to end: HTTP request, run,
// adapter, fake vendor, stored file. Prints the matrix at the end.
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operations } from "../../src/operations/all.ts";
import { canServe } from "../../src/providers/adjust-parameters.ts";
import { providers } from "../../src/providers/all.ts";
import { fakeVendors } from "../fake-vendors/all.ts";
import type { FakeVendor, FakeVendorDefinition } from "../fake-vendors/fake-vendor.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { insertDefaultTestModels } from "../support/custom-models.ts";
import { buildJobs } from "../support/operation-plans.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import {
  listExampleRequests,
  listRegistryRequests,
  type RegistryRequest,
  scene,
  sceneMask,
} from "./registry-requests.ts";

const UNKNOWN_RUN = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

/** Beside the fake vendors, nothing can serve a request. */
const ONLY_FAKE_VENDORS = {
  SANDBOX_URL: "",
  PUBLIC_URL_IS_REACHABLE: "true",
  FAL_LORA_BASE_URL: "https://loras.example/files",
};

let environment: TestEnvironment | undefined;
/** Addresses and keys of the fake vendors that the next server process knows. */
let vendorSettings: Record<string, string> = {};
let caller: ApiCaller;
let requests: RegistryRequest[] = listRequests(
  UNKNOWN_RUN,
  "https://example.com/a.png",
  "",
  "https://example.com/b.png",
);
const providersByRequest = new Map<string, Set<string>>();

function listRequests(run: string, url: string, mask: string, maskUrl: string): RegistryRequest[] {
  const listed = listRegistryRequests({ run, url, mask: `data:image/png;base64,${mask}`, maskUrl });
  return [...listed, ...listExampleRequests(listed, run)];
}

/** Uploads what the requests name. */
async function uploadSources(): Promise<void> {
  const upload = async (bytes: Buffer) => {
    const form = new FormData();
    form.set("file", new File([new Uint8Array(bytes)], "scene.png", { type: "image/png" }));
    const { body } = await caller.post("/upload", form);
    return body.data as { run_id: string; image_url: string };
  };
  const mask = await sceneMask();
  const [image, maskRun] = [await upload(await scene()), await upload(mask)];
  requests = listRequests(image.run_id, image.image_url, mask.toString("base64"), maskRun.image_url);
}

/** The server is started again for each group of providers, on the same data. */
async function startServerFor(settings: Record<string, string>): Promise<void> {
  vendorSettings = settings;
  if (environment) {
    // A killed process would hold the lease of the dispatcher for seconds.
    await environment.stopGracefully("api");
    return environment.start("api");
  }
  environment = await startTestEnvironment({
    env: { ...ONLY_FAKE_VENDORS, FETCH_ALLOW_ORIGINS: "" },
    processEnv: async () => vendorSettings,
  });
  caller = createHttpCaller(environment);
  await insertDefaultTestModels(environment);
  await uploadSources();
}

afterAll(async () => {
  await environment?.stop();
  const columns = fakeVendors.map(({ id }) => id);
  const rows = requests.map(({ name }) => [
    name,
    ...columns.map((id) => (providersByRequest.get(name)?.has(id) ? "x" : "·")),
  ]);
  const line = ([name = "", ...cells]: string[]) =>
    name.padEnd(38) + cells.map((cell, n) => cell.padEnd(columns[n]!.length + 2)).join("");
  console.log([line(["", ...columns]), ...rows.map(line)].join("\n"));
});

/** A minimal job for this request, with enough fields for an offer to decide whether it supports it. */
const jobOf = ({ task, model, path, body }: RegistryRequest) => {
  const urls = (body.image_urls ?? body.run_ids) as string[] | undefined;
  const isMasked = body.mask_url !== undefined || body.mask_image_url !== undefined;
  const isFromText =
    (task === "image.generate" && body.reference_image_url === undefined) ||
    (path === "/videos" && body.image === undefined);
  const images = urls ?? (isFromText ? undefined : ["image"]);
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

const listServedBy = ({ id }: FakeVendorDefinition): RegistryRequest[] => {
  const { offers } = providers.find((each) => each.id === id)!;
  return requests.filter((request) =>
    offers.some((offer) => offer.model === request.model && canServe(offer, jobOf(request) as never)),
  );
};

/** Groups of providers that share no request, so that each request of a group has one provider that can serve it. */
function groupFakeVendors(): FakeVendorDefinition[][] {
  const namesOf = (definition: FakeVendorDefinition) => listServedBy(definition).map(({ name }) => name);
  const groups: FakeVendorDefinition[][] = [];
  for (const definition of fakeVendors.toSorted((one, other) => namesOf(other).length - namesOf(one).length)) {
    const names = new Set(namesOf(definition));
    const group = groups.find((each) => !each.some((member) => namesOf(member).some((name) => names.has(name))));
    if (group) group.push(definition);
    else groups.push([definition]);
  }
  return groups;
}

describe.each(groupFakeVendors().map((group, index) => ({ number: index + 1, group })))(
  "server $number",
  ({ group }) => {
    const started = new Map<string, FakeVendor>();
    beforeAll(async () => {
      for (const { id, start } of group) started.set(id, await start());
      const settings = group.map(({ id, env }) => env(started.get(id)!));
      await startServerFor(Object.assign({}, ...settings, ONLY_FAKE_VENDORS));
    });
    afterAll(() => Promise.all([...started.values()].map((fakeVendor) => fakeVendor.close())));

    describe.each(group)("$id", (definition) => {
      it("serves every request that it offers, and Gesso stores every file", async () => {
        const { id } = definition;
        const own = listServedBy(definition);
        expect(own.length).toBeGreaterThan(0);
        await Promise.all(
          own.map(async (request) => {
            const { status, body } = await caller.post(request.path, request.body, { accept: "application/json" });
            expect([request.name, status, body.code]).toEqual([
              request.name,
              expect.toSatisfy((is: number) => is < 300),
              undefined,
            ]);
            const run = await caller.waitUntilEnded(body.run_id ?? body.data?.run_id ?? body.runId, 600);
            expect([request.name, run.status, run.error]).toEqual([request.name, "completed", null]);
            expect([request.name, run.provider]).toEqual([request.name, id]);
            expect(run.attempts[0]).toMatchObject({ provider: id, state: "succeeded", request: { method: "POST" } });
            await checkOutput(request, run);
            providersByRequest.set(request.name, (providersByRequest.get(request.name) ?? new Set()).add(id));
          }),
        );
        expect(started.get(id)!.invalidRequests).toEqual([]);
      });
    });
  },
);

async function checkOutput({ name, expectedOutput }: RegistryRequest, run: any): Promise<void> {
  if (expectedOutput === "text")
    return void expect([name, Object.keys(run.result ?? {}).length > 0]).toEqual([name, true]);
  const file = await fetch(run.outputs[0].url);
  const bytes = Buffer.from(await file.arrayBuffer());
  expect(run.outputs[0].url.startsWith(environment!.url)).toBe(true);
  if (expectedOutput === "video") return void expect(bytes.subarray(4, 8).toString()).toBe("ftyp");
  const { width, height } = await sharp(bytes).metadata();
  expect([width, height]).toEqual([run.outputs[0].width, run.outputs[0].height]);
}

const fakedProviders = providers.filter(({ id }) => fakeVendors.some((each) => each.id === id));

it("there is a request for every operation that these providers serve", () => {
  const served = new Set(fakedProviders.flatMap(({ offers }) => offers.map(({ task }) => task)));
  const missing = operations
    .filter(({ plan }) => plan !== undefined)
    .filter((operation) => buildJobs(operation, operation.example).some(({ task }) => served.has(task)))
    .filter(({ http }) => !requests.some(({ path }) => path === http.path));
  expect(missing.map(({ name }) => name)).toEqual([]);
});

it("there is a request for every task and model that these providers offer", () => {
  const requested = new Set(requests.map(({ task, model }) => `${task} ${model}`));
  const offered = fakedProviders.flatMap(({ offers }) =>
    offers.filter(({ lifecycle }) => lifecycle?.state !== "retired").map(({ task, model }) => `${task} ${model}`),
  );
  expect([...new Set(offered)].filter((offer) => !requested.has(offer))).toEqual([]);
});

it("every request is served by as many providers as expected", () => {
  const short = requests.filter(({ name, minProviders }) => (providersByRequest.get(name)?.size ?? 0) < minProviders);
  expect(
    short.map(
      ({ name, minProviders }) =>
        `${name}: ${[...(providersByRequest.get(name) ?? [])].join(", ") || "none"}, expected ${minProviders}`,
    ),
  ).toEqual([]);
});
