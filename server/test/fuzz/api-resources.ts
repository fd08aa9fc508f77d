// Creates what fuzzed requests name: an image, and one resource of each kind whose ID a path can have, so that requests
// get past "not found".
import { randomUUID } from "node:crypto";
import type { ResourcePool } from "../conformance/generated-requests.ts";
import type { ApiCaller } from "../support/api-caller.ts";

/** Requests that delete name only these. */
const UNKNOWN_ID = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

/** Returns the pool of an operation, by its path. */
export async function createFuzzResources(caller: ApiCaller, image: Buffer): Promise<(path: string) => ResourcePool> {
  const create = async (path: string, body: object, idField = "id"): Promise<string> => {
    const response = await caller.post(path, body);
    const id = response.body[idField];
    if (typeof id !== "string") throw new Error(`${path} answered ${response.status} ${JSON.stringify(response.body)}`);
    return id;
  };
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(image)]), "a.png");
  const run: string = (await caller.post("/upload", form)).body.data.run_id;
  const member = randomUUID();
  await caller.post("/members", { user_id: member, role: "viewer" });
  const webhook = await create("/webhooks", { url: "https://example.com/hook" });
  const model = { name: "x", model_type: "wan-image-2.1", deployment_id: "x" };
  const ids: [pathPart: string, id: string][] = [
    ["/prompts/{", await create("/prompts", { name: "fuzz", text: "a lighthouse" })],
    ["/models/{", await create("/models", model, "model_id")],
    ["/keys/{", await create("/keys", { name: "fuzz", scopes: ["runs:read"] })],
    ["/members/{", member],
    ["/tenants/{", await create("/tenants", { name: "fuzz", owner_id: "ada" })],
    ["/webhooks/listeners/{", await create("/webhooks/listeners", { name: "fuzz" })],
    ["/webhooks/deliveries/{", await create(`/webhooks/${webhook}/test`, {})],
    ["/webhooks/{", webhook],
  ];
  const images = [run, run, `data:image/png;base64,${image.toString("base64")}`, UNKNOWN_ID];
  return (path) => {
    const id = ids.find(([part]) => path.includes(part))?.[1] ?? run;
    return {
      images,
      runs: [id, id, id.toUpperCase(), UNKNOWN_ID],
      missing: [UNKNOWN_ID, UNKNOWN_ID.toUpperCase()],
    };
  };
}
