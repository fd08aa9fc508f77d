// The graphs that come with the host, and the small language that they are written in.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { BUILT_IN_NODES } from "../../../test/fake-vendors/comfyui/nodes.ts";
import { listUnknownNodes } from "../../../test/fake-vendors/comfyui/validate.ts";
import { readProviderFailure } from "../call-provider.ts";
import { type ComfyuiGraph, filesOf, fillGraph, graphNames, loadGraph, modelsIn, withFileNames } from "./graph.ts";
import { comfyuiOffers } from "./offers.ts";

const GIVEN = { prompt: "a bicycle", seed: 7, image: "gesso/x.png", save_as: "gesso/y" };
const LORAS = { lora: "a.safetensors", lora_high: "h.safetensors", lora_low: "l.safetensors" };
const folder = mkdtempSync(join(tmpdir(), "gesso-graphs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const own = (name: string, content: unknown) =>
  writeFileSync(join(folder, `${name}.json`), typeof content === "string" ? content : JSON.stringify(content));

const inputsIn = ({ nodes }: ComfyuiGraph) =>
  Object.entries(nodes).flatMap(([id, { inputs }]) =>
    Object.entries(inputs).map(([name, value]) => ({ id, name, value })),
  );

describe.each(graphNames)("the graph %s", (name) => {
  it("declares every slot that it uses, and uses every slot that it declares", async () => {
    const graph = await loadGraph(name);
    const used = inputsIn(graph).flatMap(({ value }) =>
      typeof value === "string" && value.startsWith("$") ? [value.slice(1)] : [],
    );
    expect([...new Set(used)].sort()).toEqual(Object.keys(graph.slots).sort());
    for (const { only_with } of Object.values(graph.nodes))
      if (only_with) expect(graph.slots).toHaveProperty([only_with]);
  });

  it("links only existing nodes, of built-in classes, and has one node that saves", async () => {
    const graph = await loadGraph(name);
    const links = [
      ...inputsIn(graph).map(({ value }) => value),
      ...Object.values(graph.nodes).map(({ else: instead }) => instead),
    ];
    for (const link of links) if (Array.isArray(link)) expect(graph.nodes).toHaveProperty([link[0]]);
    const classes = Object.values(graph.nodes).map(({ class_type }) => class_type);
    for (const each of classes) expect(BUILT_IN_NODES, each).toHaveProperty([each]);
    expect(classes.filter((each) => BUILT_IN_NODES[each]?.saves)).toHaveLength(1);
  });

  it("has defaults of their declared types, and a folder for every file", async () => {
    const graph = await loadGraph(name);
    const filled = fillGraph(graph, { ...GIVEN, ...LORAS });
    expect(listUnknownNodes(filled)).toEqual([]);
    for (const { type, folder: kept } of Object.values(graph.slots)) if (type === "file") expect(kept).toBeTruthy();
  });
});

it("every offer has a graph", () => {
  expect(graphNames.sort()).toEqual([...new Set(comfyuiOffers.map(({ upstreamModel }) => upstreamModel))].sort());
});

describe("filling", () => {
  it("leaves out a node whose slot is empty, and links around it", async () => {
    const graph = await loadGraph("flux-dev-lora");
    const plain = fillGraph(graph, GIVEN);
    expect(plain).not.toHaveProperty("lora");
    expect(plain.sample!.inputs.model).toEqual(["unet", 0]);
    const with_lora = fillGraph(graph, { ...GIVEN, lora: "mine.safetensors", lora_strength: 0.4 });
    expect(with_lora.sample!.inputs.model).toEqual(["lora", 0]);
    expect(with_lora.lora!.inputs).toMatchObject({ lora_name: "mine.safetensors", strength_model: 0.4 });
  });

  it("leaves out an input that has nothing to link to", async () => {
    const graph = await loadGraph("qwen-image-edit");
    expect(fillGraph(graph, { ...GIVEN, image: undefined }).positive!.inputs).not.toHaveProperty("image");
    expect(fillGraph(graph, GIVEN).positive!.inputs.image).toEqual(["picture", 0]);
  });

  it("does not interpret a caller's value as a slot", async () => {
    const filled = fillGraph(await loadGraph("flux-dev"), { ...GIVEN, prompt: "$seed" });
    expect(filled.words!.inputs.text).toBe("$seed");
  });

  it.each([
    ["steps", 2.5],
    ["width", Number.POSITIVE_INFINITY],
    ["lora", "../secret.safetensors"],
  ])("refuses %s of %s", async (slot, value) => {
    const graph = await loadGraph("flux-dev-lora");
    expect(() => fillGraph(graph, { ...GIVEN, [slot]: value })).toThrow(
      "The provider rejected the parameters. Change the request; see details.reason.",
    );
  });

  it("names a required slot without a value", async () => {
    const graph = await loadGraph("wan-image-2.2");
    expect(() => fillGraph(graph, { ...GIVEN, lora_high: "h.safetensors" })).toThrow(
      expect.objectContaining({ details: { reason: "missing_value", field: "$lora_low" } }),
    );
  });
});

it("the files of a job are listed, and its models among them", async () => {
  const graph = await loadGraph("wan-image-2.1");
  expect(filesOf(graph, { lora: "mine.safetensors" })).toContainEqual({ folder: "loras", file: "mine.safetensors" });
  expect(filesOf(graph, {})).toHaveLength(3);
  expect(modelsIn(fillGraph(graph, { ...GIVEN, ...LORAS }))).toEqual(["wan2.1_t2v_14B_fp8_e4m3fn.safetensors"]);
});

describe("an operator", () => {
  it("can rename the files of base models", async () => {
    const graph = withFileNames(await loadGraph("flux-dev"), { "flux1-dev.safetensors": "flux/dev-fp8.safetensors" });
    expect(fillGraph(graph, GIVEN).unet!.inputs.unet_name).toBe("flux/dev-fp8.safetensors");
  });

  it("can replace a graph and add others", async () => {
    const graph = await loadGraph("wan-image-2.1");
    own("flux-dev", { ...graph, description: "mine" });
    own("another", { ...graph, description: "another" });
    expect((await loadGraph("flux-dev", folder)).description).toBe("mine");
    expect((await loadGraph("another", folder)).description).toBe("another");
    expect((await loadGraph("qwen-image-edit", folder)).description).toContain("Qwen");
  });

  it("can leave out the description", async () => {
    const { description: _, ...graph } = await loadGraph("flux-dev");
    own("undescribed", graph);
    expect(await loadGraph("undescribed", folder)).toEqual(graph);
  });

  it.each([
    ["broken", "{"],
    ["no-graph", { slots: {}, nodes: [] }],
    ["with-more", { slots: {}, nodes: {}, script: "y" }],
  ])("gets model_unavailable for an invalid graph (%s)", async (name, content) => {
    own(name, content);
    const thrown = await loadGraph(name, folder).catch((reason) => reason);
    expect([thrown.code, readProviderFailure(thrown).kind]).toEqual(["model_unavailable", "refused"]);
  });

  it("cannot name a graph outside the folder", async () => {
    own("outside", {});
    const thrown = await loadGraph("../outside", join(folder, "inner")).catch((reason) => reason);
    expect(thrown.code).toBe("model_unavailable");
  });
});
