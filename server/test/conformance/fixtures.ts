// Creates the resource that a path names, for tests that call every operation.
import { randomUUID } from "node:crypto";
import { vi } from "vitest";
import type { Suite } from "./suite.ts";

const GRANTEE = { user_id: "maria" };

const resourceFactories: Record<string, (suite: Suite) => Promise<string>> = {
  "/catalogue/models/": async ({ caller }) => {
    const alias = `made-${randomUUID()}`;
    await caller.post("/catalogue/models", { model: "sandbox:replay/studio", aliases: [alias] });
    return alias;
  },
  // An upload has no request to repeat.
  "/rerun": async ({ caller }) =>
    (await caller.generate({ prompt: "x [sandbox:reject]", width: 64, height: 64 })).body.run_id,
  "/prompts/{": async ({ caller }) =>
    (await caller.post("/prompts", { name: "example", text: "a lighthouse" })).body.id,
  "/models": async ({ caller }) => {
    const draft = { name: "x", model_type: "wan-image-2.1", deployment_id: "x" };
    const { model_id } = (await caller.post("/models", draft)).body;
    await caller.post(`/models/${model_id}/grants`, GRANTEE);
    return model_id;
  },
  "/budgets/{": async ({ caller }) =>
    (await caller.post("/budgets", { of: { customer: randomUUID() }, spend_per_day: 1 })).body.id,
  "/keys/{": async ({ caller }) => (await caller.post("/keys", { name: "x", scopes: ["runs:read"] })).body.id,
  "/members/{": async ({ caller }) => {
    const user_id = randomUUID();
    await caller.post("/members", { user_id, role: "viewer" });
    return user_id;
  },
  "/system/providers/{": async () => "fal",
  // A repeated request returns the deletion, with any name to confirm.
  "/tenants/{tenant_id}/deletion": async ({ caller }) => {
    const { id } = (await caller.post("/tenants", { name: "Acme", owner_id: "ada" })).body;
    await caller.send("PATCH", `/api/v1/tenants/${id}`, { body: { suspended: true } });
    await caller.post(`/tenants/${id}/deletion`, { confirm: "Acme" });
    return id;
  },
  "/tenants/{": async ({ caller }) => (await caller.post("/tenants", { name: "x", owner_id: "ada" })).body.id,
  "/webhooks/listeners/{": async ({ caller }) => (await caller.post("/webhooks/listeners", { name: "x" })).body.id,
  "/webhooks/deliveries/{": async (suite) => {
    const webhook = await resourceFactories["/webhooks/{"]!(suite);
    return (await suite.caller.post(`/webhooks/${webhook}/test`, {})).body.id;
  },
  "/webhooks/{": async ({ caller }) => {
    // A tenant can have a hundred, so each replaces the one before.
    const { data } = (await caller.get("/webhooks")).body;
    for (const { id } of data) await caller.send("DELETE", `/api/v1/webhooks/${id}`, {});
    return (await caller.post("/webhooks", { url: "https://example.com/hook" })).body.id;
  },
};

/** The same body, with the place of an event that is there where it names one. */
export async function withEventPosition<Body>(suite: Suite, body: Body): Promise<Body> {
  if (body === null || typeof body !== "object" || !("place" in body)) return body;
  const path = `/api/v1/runs/${await suite.uploadImage()}/events`;
  // An event can be read when no older transaction is open, and runs of other tests are going on beside this one.
  const place = await vi.waitFor(async () => {
    const { last_id } = (await suite.caller.send("GET", path, { headers: { accept: "application/json" } })).body;
    if (last_id === null) throw new Error("the run has no event yet");
    return last_id;
  }, 10_000);
  return { ...body, place };
}

/** Undefined: the path names none, or a run of any kind. */
export async function createResourceFor(suite: Suite, path: string): Promise<string | undefined> {
  const maker = Object.entries(resourceFactories).find(([place]) => path.includes(place))?.[1];
  return maker?.(suite);
}

/** A grant is named by whom it is for, in the query. */
export const queryFor = (operationId: string): string => {
  if (operationId === "admin.queryArchive") return "?reason=ticket";
  return operationId === "models.grants.delete" ? `?${new URLSearchParams(GRANTEE)}` : "";
};

/**
 * Codes of valid requests for which there is nothing to do: no outcome is unknown, no event is set aside, the provider
 * of the example is not enabled, and `gesso dev` did not start the server.
 */
const REFUSED_BY_STATE: Readonly<Record<string, string>> = {
  "admin.settle": "conflict",
  "admin.skipEvent": "route_not_found",
  "admin.pause": "route_not_found",
  "system.connectProvider": "key_belongs_in_settings",
};

/** Whether the response is the refusal that is expected of this operation. Most have none. */
export const isRefusedByState = (operationId: string, code: unknown): boolean =>
  code !== undefined && code === REFUSED_BY_STATE[operationId];
