// Agents and models that were imported while they were connected: they find such a model, read its schema and run it,
// without a restart and without a release.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FakeVendor } from "../fake-vendors/fake-vendor.ts";
import { fakeFal } from "../fake-vendors/fal.ts";
import { FILE, publishAtFal } from "../model-schemas/published.ts";
import { createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { connectClient, finishRun, type ToolResult } from "./mcp-clients.ts";

let fal: FakeVendor;
let world: TestEnvironment;
let agent: Awaited<ReturnType<typeof connectClient>>;

beforeAll(async () => {
  fal = await fakeFal.start();
  world = await startTestEnvironment({ env: { ...fakeFal.env(fal), PUBLIC_URL_IS_REACHABLE: "true" } });
  agent = await connectClient(world);
}, 120_000);
afterAll(async () => {
  await agent?.close();
  await world?.stop();
  await fal?.close();
}, 60_000);

const call = async (operation: string, input: object): Promise<ToolResult> =>
  (await agent.callTool({ name: "call_operation", arguments: { operation, input } })) as ToolResult;

/** Publishes a model that nothing names, and imports it. */
async function importModel(input: object) {
  const path = `acme/${randomBytes(6).toString("hex")}`;
  fal.switches.published[path] = publishAtFal(path, {
    input,
    output: { required: ["image"], properties: { image: { $ref: "#/components/schemas/Image" } } },
    schemas: { Image: FILE({ width: { type: "integer" } }) },
  });
  const { status, body } = await createHttpCaller(world).post("/catalogue/models", {
    model: `fal:${path}`,
    price: 0.1,
  });
  expect([status, body.details]).toEqual([200, undefined]);
  return { path, model: `fal:${path}` };
}

describe("A model that is imported while an agent is connected", () => {
  it("is found, described and run by the agent without a restart, and its errors name the field", async () => {
    const field = `field_${randomBytes(4).toString("hex")}`;
    const { path, model } = await importModel({
      required: [field],
      properties: { [field]: { type: "string" }, strength: { type: "integer", maximum: 3 } },
    });
    const found = await call("catalogue.listModels", { q: path });
    expect(found.structuredContent.response.data).toMatchObject([{ name: model }]);
    const described = await call("catalogue.getModel", { model });
    const [required] = described.structuredContent.response.input.required;
    const wrong = await call("runs.create", { model, input: { [required]: "a boat", strength: 4 } });
    expect(wrong).toMatchObject({ isError: true });
    expect(wrong.content[0]!.text).toContain("input.strength: Must be at most 3.");
    const input = { [required]: "a boat", strength: 2 };
    const run = await finishRun(agent, await call("runs.create", { model, input }));
    expect(run.structuredContent).toMatchObject({ status: "completed", cost: { amount: 0.1 } });
    expect(run.structuredContent.images).toMatchObject([{ media_type: "image/png" }]);
    expect(fal.ledger.map((job) => [job.model, job.request])).toEqual([[path, input]]);
  });

  it("has a schema that the agent can read, however large it is", async () => {
    const voices = Array.from({ length: 1500 }, (_, index) => `${randomBytes(10).toString("hex")}-${index}`);
    const described = { type: "string", description: "What this field does. ".repeat(50), default: "a" };
    const { model } = await importModel({
      required: ["prompt"],
      properties: {
        prompt: { type: "string" },
        voice: { type: "string", enum: voices },
        ...Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`field_${index}`, described])),
      },
    });
    const { isError, content, structuredContent } = await call("catalogue.getModel", { model });
    expect(isError).toBeFalsy();
    expect(content[0]!.text!.length).toBeLessThan(41_000);
    expect(content[0]!.text).toMatch(/^{"omitted":"The schema of the result, .* are left out\./);
    expect(structuredContent.response.omitted).toContain("more than 40 allowed values");
    expect(Object.keys(structuredContent.response.input.properties)).toHaveLength(62);
    const refused = await call("runs.create", { model, input: { prompt: "a", voice: "none" } });
    expect(refused.content[0]!.text).toContain("input.voice: Must be one of");
    const run = await call("runs.create", { model, input: { prompt: "a", voice: voices.at(-1) } });
    expect((await finishRun(agent, run)).structuredContent.status).toBe("completed");
  });
});
