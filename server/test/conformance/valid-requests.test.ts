// Random valid requests from the schemas of the generated contract are all accepted, by the client and by the server. A
// JSON Schema validator on the contract file decides whether a request is valid.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { MODEL_IDS } from "../support/custom-models.ts";
import { drawScene } from "../support/scene.ts";
import { createResourceFor, isRefusedByState, withEventPosition } from "./fixtures.ts";
import { type FuzzedOperation, listFuzzedOperations } from "./generated-requests.ts";
import { currentTransport, itOverHttpAndClient } from "./http-and-client.ts";
import { asDataUrl, leftHalfMask, UNKNOWN_ID } from "./run-requests.ts";
import { useOwnSuite } from "./suite.ts";

const EACH = { http: 25, client: 10 };
const seed = Number(process.env.FUZZ_SEED ?? 20_261);
// Some requests act on the whole installation, such as pausing its work.
const suite = useOwnSuite({}, { roles: "split" });
// The answer to a request does not depend on what becomes of its run.
beforeAll(() => suite.environment.stopGracefully("worker"));
const contract = JSON.parse(readFileSync("api/openapi.json", "utf8"));
const operations = listFuzzedOperations(contract).filter(({ bodies }) => bodies["application/json"]);
const ajv = new Ajv2020({ strict: false, validateFormats: false });

type Schema = {
  type?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
  maxLength?: number;
  "x-widget"?: string;
};

/** Fields with rules that a schema cannot express: equality with another field, a sum, an existing name. */
const LEFT_OUT = [
  "workflow_type",
  "reference_url",
  "image_urls",
  "run_ids",
  "images",
  // Of operations with a choice of models, the choice is made above; an imported model must be there.
  "model",
  "sync",
  "version",
  "id",
  "operation",
];
const NOT_BOUND = ["vendorc", "flux-kontext-multi"];

function arbitraryOf(name: string, schema: Schema): fc.Arbitrary<unknown> | undefined {
  if (LEFT_OUT.includes(name) || schema["x-widget"] || "const" in schema) return undefined;
  // The source is an upload, which has one output.
  if (name === "output_index") return fc.constant(0);
  if (schema.enum) return fc.constantFrom(...schema.enum.filter((each) => !NOT_BOUND.includes(String(each))));
  if (schema.type === "boolean") return fc.boolean();
  const { minimum: min = 0, maximum: max = 100 } = schema;
  if (schema.type === "integer") return fc.integer({ min, max: Math.min(max, min + 4_294_967_295) });
  if (schema.type === "number") return fc.double({ min, max, noNaN: true });
  const isPlain = schema.type === "string" && !schema.pattern && !schema.format && name !== "prompt";
  return isPlain
    ? fc.string({ minLength: 20, maxLength: Math.min(schema.maxLength ?? 60, 60) }).filter((text) => text.trim() !== "")
    : undefined;
}

/** What every request has: the example with images that are there, and for generate what some of its models need. */
async function groundOf(operation: FuzzedOperation): Promise<Record<string, unknown>> {
  const { schema, example = {} } = operation.bodies["application/json"]!;
  const image = asDataUrl(await drawScene(64, 64));
  const text = JSON.stringify(example)
    .replaceAll("https://example.com/mask.png", asDataUrl(await leftHalfMask(64, 64)))
    .replaceAll(/https:\/\/example\.com\/\w+\.png/g, image)
    .replaceAll(UNKNOWN_ID, await suite.uploadImage());
  const models = {
    model_id: UNKNOWN_ID,
    aspect_ratio: "16:9",
    lora_low_name: "low",
    lora_high_name: "high",
    width: 64,
    height: 64,
  };
  const fields = Object.keys(schema.properties ?? {});
  return {
    ...JSON.parse(text),
    ...(operation.operationId === "images.generate" && models),
    ...(operation.makesRuns && fields.includes("prompt") && { prompt: "[sandbox:reject] x" }),
    ...(operation.makesRuns && { sync: false }),
  };
}

/** A custom model is made for one model type. */
const withModel = ({ model_id, ...body }: Record<string, unknown>) =>
  model_id === undefined
    ? body
    : { ...body, model_id: (MODEL_IDS as Record<string, string>)[String(body.model_type ?? "flux-dev")] ?? UNKNOWN_ID };

let sent = 0;

for (const operation of operations) {
  itOverHttpAndClient(
    `${operation.operationId} takes whatever fits its schema`,
    async () => {
      const { schema } = operation.bodies["application/json"]!;
      const fits = ajv.compile({ ...schema, components: contract.components });
      const ground = await groundOf(operation);
      const extras = Object.entries(schema.properties ?? {}).flatMap(([name, own]) => {
        const value = arbitraryOf(name, own as Schema);
        return value ? [[name, fc.option(value, { nil: undefined })] as const] : [];
      });
      const bodies = fc
        .sample(fc.record(Object.fromEntries(extras)), { numRuns: EACH.http * 8, seed })
        .map((extra) => withModel({ ...ground, ...JSON.parse(JSON.stringify(extra)) }))
        .filter((body) => fits(body))
        .slice(0, EACH[currentTransport()]);
      expect(bodies.length).toBeGreaterThan(extras.length > 0 ? 4 : 0);
      sent += bodies.length;
      for (const body of bodies) {
        const run = operation.path.includes("{run_id}") ? await suite.uploadImage() : UNKNOWN_ID;
        const id = (await createResourceFor(suite, operation.path)) ?? run;
        const headers = { accept: "application/json", prefer: "wait=0" };
        const path = operation.path.replace(/\{\w+\}/, id);
        // A user can be added only once.
        if (operation.operationId === "members.add") body.user_id = randomUUID();
        const sending = { body: await withEventPosition(suite, body), headers };
        const response = await suite.caller.send(operation.method, path, sending);
        const isTaken = response.status < 300 || isRefusedByState(operation.operationId, response.body?.code);
        expect([body, response.status, isTaken || response.body]).toEqual([body, response.status, true]);
      }
    },
    90_000,
  );
}

it("sends hundreds of valid requests", () => {
  expect(sent).toBeGreaterThan(400);
});
