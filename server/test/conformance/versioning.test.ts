// What stays, what is old and still works, and what is gone.
import { beforeAll, describe, expect } from "vitest";
import {
  CUSTOM_MODEL_FIELDS,
  CUSTOM_MODEL_FIELDS_2_2,
  expectGenerateAccepted,
  LORAS,
  minimalFields,
} from "./expectations.ts";
import { it } from "./http-and-client.ts";
import { type ContractOperation, fetchContractOperations, fieldErrors, statusAndCode } from "./run-requests.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();
let printed: ContractOperation[];

beforeAll(async () => {
  printed = await fetchContractOperations(suite);
});

const input = (body: Record<string, unknown>) => suite.caller.generate({ prompt: "[sandbox:never] x", ...body });
const modelOf = async (body: Record<string, unknown>) => {
  const { run_id } = await expectGenerateAccepted(suite, body);
  const run = (await suite.caller.get(`/runs/${run_id}`)).body;
  expect(run.model).toBe(run.inputs.model_type);
  return run.model;
};

describe("paths", () => {
  it("[VER-001] begin with /api/v1, and lead nowhere without it or below another version", async () => {
    expect(printed.length).toBeGreaterThan(30);
    for (const { method, path } of printed) {
      expect(path).toMatch(/^\/api\/v1\//);
      for (const other of [path.replace("/api/v1", ""), path.replace("/v1", "/v2"), path.replace("/api", "")]) {
        const { status } = await suite.caller.send(method, other);
        expect([method, other, status]).toEqual([method, other, 404]);
      }
    }
  });

  it("[VER-003] of the old flat operations are gone", async () => {
    for (const name of ["uploadImage", "generateImageRun", "describe", "enhancePrompt"]) {
      expect([name, ...statusAndCode(await suite.caller.post(`/${name}`, {}))]).toEqual([name, 404, "route_not_found"]);
    }
  });
});

describe("workflow_type", () => {
  const known: Record<string, unknown>[] = [
    { workflow_type: "default" },
    { workflow_type: "wan", ...CUSTOM_MODEL_FIELDS },
    { workflow_type: "wan-image-2.2", ...CUSTOM_MODEL_FIELDS_2_2, ...LORAS },
  ];

  it("[VER-005] knows three values and no other", async () => {
    for (const body of known) expect((await input(body)).status).toBe(202);
    const other = await input({ workflow_type: "comfy" });
    expect([...statusAndCode(other), ...fieldErrors(other)]).toEqual([
      400,
      "validation_error",
      "/workflow_type unknown_value",
    ]);
  });

  it("[VER-006] [VER-013] gets the headers of a deprecated feature", async () => {
    for (const body of known) {
      const { headers } = await input(body);
      expect(headers.get("deprecation")).toMatch(/^@\d+$/);
      expect(headers.get("link")).toMatch(/<[^>]+>; rel="successor-version"/);
      const sunset = headers.get("sunset");
      if (sunset === null) continue;
      expect(new Date(sunset).toUTCString()).toBe(sunset);
      expect(Date.parse(sunset) / 1000).toBeGreaterThanOrEqual(Number(headers.get("deprecation")!.slice(1)));
    }
  });

  it("[VER-007] left out leaves those headers out", async () => {
    const { status, headers } = await input({ width: 64, height: 64 });
    expect([status, headers.get("deprecation")]).toEqual([202, null]);
  });

  it("[VER-008] wan means wan-image-2.1, with all that it needs", async () => {
    const bare = await input({ workflow_type: "wan" });
    expect(statusAndCode(bare)).toEqual([400, "validation_error"]);
    expect(fieldErrors(bare).sort()).toEqual(["/height required", "/model_id model_id_required", "/width required"]);
    expect(await modelOf({ workflow_type: "wan", ...CUSTOM_MODEL_FIELDS })).toBe("wan-image-2.1");
  });

  it("[VER-009] wan-image-2.2 means the model of that name, with both its LoRAs", async () => {
    const bare = await input({ workflow_type: "wan-image-2.2", ...CUSTOM_MODEL_FIELDS_2_2 });
    expect(statusAndCode(bare)).toEqual([400, "validation_error"]);
    expect(fieldErrors(bare).sort()).toEqual([
      "/lora_high_name lora_pair_required",
      "/lora_low_name lora_pair_required",
    ]);
    expect(await modelOf({ workflow_type: "wan-image-2.2", ...CUSTOM_MODEL_FIELDS_2_2, ...LORAS })).toBe(
      "wan-image-2.2",
    );
  });

  it("[VER-010] default changes nothing", async () => {
    expect(await modelOf({ workflow_type: "default" })).toBe("flux-dev");
    expect(await modelOf({ workflow_type: "default", model_type: "nanobanana" })).toBe("nanobanana");
  });

  it("[VER-011] must not contradict model_type", async () => {
    const all = { ...CUSTOM_MODEL_FIELDS, ...LORAS };
    for (const [workflow_type, model_type] of [
      ["wan", "flux-dev"],
      ["wan", "wan-image-2.2"],
      ["wan-image-2.2", "wan-image-2.1"],
    ]) {
      expect(statusAndCode(await input({ ...all, workflow_type, model_type }))).toEqual([400, "validation_error"]);
    }
  });

  it("[VER-012] may agree with model_type", async () => {
    expect(await modelOf({ workflow_type: "wan", model_type: "wan-image-2.1", ...CUSTOM_MODEL_FIELDS })).toBe(
      "wan-image-2.1",
    );
    const second = {
      workflow_type: "wan-image-2.2",
      model_type: "wan-image-2.2",
      ...CUSTOM_MODEL_FIELDS_2_2,
      ...LORAS,
    };
    expect(await modelOf(second)).toBe("wan-image-2.2");
  });
});

describe("lora_1", () => {
  it("[VER-014] is demanded by no model", async () => {
    const models = Object.entries(minimalFields(suite));
    expect(models).toHaveLength(10);
    for (const [model_type, needs] of models) {
      expect(needs).not.toHaveProperty("lora_1");
      expect(await modelOf({ model_type, ...needs })).toBe(model_type);
    }
  });
});
