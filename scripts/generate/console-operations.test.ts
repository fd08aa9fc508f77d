import { expect, it } from "vitest";
import { generateOpenApi } from "../../server/src/contract/openapi.ts";
import { operations } from "../../server/src/operations/all.ts";
import { type Contract, listClientOperations } from "./client-operations.ts";
import { generateConsoleOperations, labelOf } from "./console-operations.ts";

const contract = generateOpenApi(operations);
const file = JSON.parse(generateConsoleOperations(contract));
const nameOf = (field: { name: string } | string) => (typeof field === "string" ? field : field.name);

it("has a form for every operation that creates a run, with exactly the fields of its JSON body", () => {
  const running = listClientOperations(contract as Contract).filter(({ operation }) => operation["x-run-type"]);
  expect(Object.keys(file.operations)).toEqual(running.map(({ name }) => name));
  for (const { name, json } of running) {
    expect(file.operations[name].fields.map(nameOf)).toEqual(Object.keys(json?.properties ?? {}));
  }
});

it("uses nine kinds of widgets", () => {
  const widgets = new Set<string>(Object.values<{ widget: string }>(file.sharedFields).map(({ widget }) => widget));
  for (const { fields } of Object.values<{ fields: ({ widget: string } | string)[] }>(file.operations)) {
    for (const field of fields) if (typeof field !== "string") widgets.add(field.widget);
  }
  expect([...widgets].sort()).toEqual(
    ["choice", "image", "json", "list", "number", "ratio", "seed", "switch", "text"].sort(),
  );
});

it("keeps the rules of a model as data", () => {
  const rules = JSON.stringify(file.operations["images.generate"].rules);
  expect(rules).toContain('"then":{"required":["model_id","width","height"]}');
  expect(rules).toContain('"batch_size":{"const":2}');
});

it("makes labels from the names of fields", () => {
  expect(labelOf("reference_image_url", true)).toBe("Reference image");
  expect(labelOf("run_ids", true)).toBe("Runs");
  expect(labelOf("imageUrl", true)).toBe("Image");
  expect(labelOf("lora_low_name", false)).toBe("LoRA low name");
  expect(labelOf("webhook_url", false)).toBe("Webhook URL");
});

it("offers a choice of constants as a choice, and keeps version numbers in titles", () => {
  const { fields } = file.operations["images.upscale"];
  const factor = fields.find(({ name }: { name: string }) => name === "factor");
  expect(factor).toMatchObject({ widget: "choice", options: [2, 4], default: 2 });
  expect(file.operations["images.edit.gemini25"].title).toContain("gemini-2.5");
});

it("folds the field for a run where another field takes a run too", () => {
  const { fields } = file.operations["images.upscale"];
  const sectionOfField = (name: string) => fields.find((field: { name: string }) => field.name === name).section;
  expect(sectionOfField("image_url")).toBe("main");
  expect(sectionOfField("run_id")).toBe("advanced");
});
