import { expect, it } from "vitest";
import { renderModels } from "./search.ts";
import { planSync } from "./sync.ts";

const pin = (name: string, price: number | null, schema_hash = "a", model = "fal:acme/boat") => ({
  ...{
    name,
    model,
    price,
    schema_hash,
    refused_at: null,
    provider: "fal",
    title: null,
    category: null,
    media: ["video"],
  },
});

it("reads the document of a model again with all its names, which keep their prices", () => {
  const pins = [
    pin("fal:acme/boat", 1.2),
    pin("boat", 1.2),
    pin("free", 0),
    pin("x", null, "b"),
    pin("y", 1, "a", "z"),
  ];
  const { hashes, imports } = planSync("fal:acme/boat", pins);
  expect(hashes).toEqual(["a", "b"]);
  expect(imports).toEqual([{ model: "fal:acme/boat", aliases: ["boat", "free", "x"] }]);
});

it("sends at most 10 aliases at once, and does not bring back a name that was removed", () => {
  const aliases = Array.from({ length: 12 }, (_, index) => pin(`alias-${index}`, null));
  const { imports } = planSync("fal:acme/boat", [pin("fal:acme/boat", null), ...aliases]);
  expect(imports.map((each) => each.aliases.length)).toEqual([10, 2]);
  expect(planSync("fal:acme/boat", aliases).imports).toEqual([]);
});

it("lists models with what aliases stand for, and says how to add the first", () => {
  expect(renderModels([pin("boat", 1.2), pin("fal:acme/boat", null)], false, 80)).toEqual([
    "name           makes  price    alias of",
    "boat           video  $1.20    fal:acme/boat",
    "fal:acme/boat  video  unknown",
  ]);
  expect(renderModels([], false)[1]).toContain("gesso models add fal:fal-ai/veo3.1/fast");
  expect(renderModels([], true)[0]).toBe("No imported model matches.");
});
