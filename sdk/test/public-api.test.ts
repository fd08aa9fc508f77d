// The client has every operation of the API with the documented types, and nothing of the first version is broken.
import { readFileSync } from "node:fs";
import { describe, expect, expectTypeOf, it } from "vitest";
import { generateClient } from "../../scripts/generate/client.ts";
import { type Contract, listClientOperations } from "../../scripts/generate/client-operations.ts";
import Client, {
  type BackgroundRemoved,
  type Call,
  type CharacterGeneration,
  createClient,
  type Description,
  type Event,
  type Extraction,
  type Generation,
  type ImageRun,
  type ImagesGenerateInput,
  type ListCall,
  type Media,
  type MediaBytes,
  type ModelName,
  type Run,
  type RunCall,
  type RunPage,
  type Upload,
  type Video,
  type VideoRun,
} from "../src/index.ts";
import { findBreakingChanges, type Surface, surfaceOf } from "./contract-surface.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const contract = JSON.parse(read("api/openapi.json")) as Contract;
const client = createClient();

/** The tables of the interface document. */
const PLAIN = `images.generate images.upload images.uploadMask images.combine images.genRemove images.generativeRemove
  images.backgroundRemove images.extract images.describe edit.maskImage edit.getLayers generateVideo prompts.enhance
  prompts.list prompts.get prompts.update prompts.delete runs.get runs.list runs.cancel runs.delete runs.tree
  runs.estimate`.split(/\s+/);
const TWO_BODIES = `images.segmentImage images.removeBackground images.edit.vendora images.edit.fluxKontext
  images.edit.nanobanana images.edit.gemini25 images.combine.nanobanana images.combine.gemini25 images.character
  images.reference images.reframe images.combine images.describe edit.maskImage`.split(/\s+/);

/** The names that an editor completes: those of a type that also takes any other text. */
type KnownNames<Name extends string> = Name extends unknown ? (string & {} extends Name ? never : Name) : never;

const find = (name: string) => name.split(".").reduce<any>((place, word) => place?.[word], client);

describe("[SDK-5] names", () => {
  it("all exist, also those of the contract", () => {
    const missing = [
      ...PLAIN,
      ...TWO_BODIES.flatMap((name) => [name, `${name}.json`, `${name}.formData`]),
      ...listClientOperations(contract).flatMap(({ name, operation }) => [
        ...[name, ...(operation["x-aliases"] ?? [])],
        ...(Object.keys(operation.requestBody?.content ?? {}).length > 1 ? [`${name}.json`, `${name}.formData`] : []),
      ]),
    ].filter((name) => typeof find(name) !== "function");
    expect(missing).toEqual([]);
    expect(client.images.genRemove).toBe(client.images.generativeRemove);
    for (const gone of ["uploadImage", "generateImageRun", "describe", "enhancePrompt"])
      expect(gone in client).toBe(false);
  });

  it("have the documented types", () => {
    const { images, edit, runs } = client;
    const uuid = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
    expectTypeOf(() => images.generate({ prompt: "x" })).returns.toEqualTypeOf<RunCall<Generation, ImageRun>>();
    expectTypeOf(() => images.generate({ prompt: "x" }, { minimal: true })).returns.toEqualTypeOf<
      RunCall<null, ImageRun>
    >();
    expectTypeOf(() => images.upload({ file: "x.png" })).returns.toEqualTypeOf<Call<Upload>>();
    expectTypeOf(() =>
      images.edit.fluxKontext.json({ original_run_id: uuid, prompt: "x", model: "flux-kontext-max" }),
    ).returns.toEqualTypeOf<RunCall<Run, ImageRun>>();
    expectTypeOf(() => images.edit.fluxKontext.formData({ original_run_id: uuid, prompt: "x" })).returns.toEqualTypeOf<
      RunCall<Run, ImageRun>
    >();
    expectTypeOf(() => images.combine({ images: ["a", "b"] })).returns.toEqualTypeOf<RunCall<Generation, ImageRun>>();
    expectTypeOf(() => images.combine.gemini25.json({ prompt: "x", run_ids: [uuid, uuid] })).returns.toEqualTypeOf<
      RunCall<Generation, ImageRun>
    >();
    expectTypeOf(() => images.removeBackground.formData({ image: new Blob() })).returns.toEqualTypeOf<
      RunCall<MediaBytes, ImageRun>
    >();
    expectTypeOf(() => images.removeBackground.json({ run_id: uuid, sync: false })).returns.toEqualTypeOf<
      RunCall<Run, ImageRun>
    >();
    expectTypeOf(() => images.backgroundRemove({ run_id: uuid })).returns.toEqualTypeOf<
      RunCall<BackgroundRemoved, ImageRun>
    >();
    expectTypeOf(() => images.character({ prompt: "x" })).returns.toEqualTypeOf<
      RunCall<CharacterGeneration, ImageRun>
    >();
    expectTypeOf(() => images.describe({ run_id: uuid })).returns.toExtend<RunCall<Description>>();
    expectTypeOf(() => edit.maskImage({ original_image_url: "a", mask_image_url: "b" })).returns.toEqualTypeOf<
      RunCall<MediaBytes, ImageRun>
    >();
    expectTypeOf(() => client.generateVideo({ image_url: "a" })).returns.toEqualTypeOf<RunCall<Video, VideoRun>>();
    expectTypeOf(() => runs.list()).returns.toEqualTypeOf<ListCall<RunPage>>();
    expectTypeOf<Run["status"]>().toExtend<string>();
    // @ts-expect-error: the JSON form asks for the model
    void (() => images.edit.fluxKontext.json({ original_run_id: uuid, prompt: "x" }));
    // The finished run has the operation's own result.
    expectTypeOf(() => images.describe({ run_id: uuid }).wait())
      .returns.resolves.toHaveProperty("description")
      .toEqualTypeOf<string>();
    expectTypeOf(() => images.extract({ run_id: uuid, prompt: "x" }).wait())
      .returns.resolves.toHaveProperty("objects")
      .toEqualTypeOf<Extraction["objects"]>();
    expectTypeOf(() => images.generate({ prompt: "x" }).wait())
      .returns.resolves.toHaveProperty("image")
      .toEqualTypeOf<Media>();
    expectTypeOf(() => runs.get(uuid).wait())
      .returns.resolves.toHaveProperty("image")
      .toEqualTypeOf<Media | null>();
    // A model's own requirements are part of the type.
    void (() => images.generate({ prompt: "x", model_type: "wan-image-2.1", model_id: uuid, width: 64, height: 64 }));
    // @ts-expect-error: wan-image-2.1 needs a model_id
    void (() => images.generate({ prompt: "x", model_type: "wan-image-2.1", width: 64, height: 64 }));
    const wan = { prompt: "x", model_type: "wan-image-2.1", model_id: uuid, width: 64, height: 64 } as const;
    // @ts-expect-error: wan-image-2.1 always makes two images
    void (() => images.generate({ ...wan, batch_size: 4 }));
    // @ts-expect-error: vendorb-imagen4 needs an aspect ratio
    void (() => images.generate({ prompt: "x", model_type: "vendorb-imagen4" }));
    void (() => runs.estimate({ operation: "images.upscale", input: { run_id: uuid } }));
    // @ts-expect-error: that input belongs to another operation
    void (() => runs.estimate({ operation: "images.upscale", input: { prompt: 5 } }));
    // @ts-expect-error: there is no such operation
    void (() => runs.estimate({ operation: "images.upscal", input: {} }));
    void (() => client.keys.create({ name: "app", scopes: ["images:write", "*:read"] }));
    // @ts-expect-error: there is no such resource
    void (() => client.keys.create({ name: "app", scopes: ["imagse:write"] }));
    void (() => client.usage.get({ by: "day,model" }));
    // @ts-expect-error: there is no such dimension
    void (() => client.usage.get({ by: "week" }));
    // The type of an event decides its data.
    const handle = (event: Event) => {
      if (event.type === "credits.low") expectTypeOf(event.data.balance).toEqualTypeOf<number>();
      if (event.type === "run.completed") expectTypeOf(event.data.run_id).toEqualTypeOf<string>();
      // @ts-expect-error: a low balance has no run
      if (event.type === "credits.low") void event.data.run_id;
    };
    void handle;
    // @ts-expect-error: a prompt is required
    void (() => images.generate({ width: 64 }));
    // @ts-expect-error: there is no such field
    void (() => images.generate({ prompt: "x", widht: 64 }));
  });

  it("require an image where the API does, from any of its sources", () => {
    const { images } = client;
    const uuid = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
    const url = "https://a.example/a.png";
    void (() => images.edit({ prompt: "x", image: url, model: "gpt-image-2.5-flare" }));
    void (() => client.videos.generate({ prompt: "x" }));
    void (() => client.videos.generate({ prompt: "x", image: { run_id: uuid }, model: "ray-2" }));
    void (() => images.edit.nanobanana({ prompt: "x", image_url: url }));
    void (() => images.edit.nanobanana({ prompt: "x", run_id: uuid, output_index: 1 }));
    void (() => images.edit.nanobanana({ prompt: "x", image: new Blob() }));
    void (() => client.generateVideo({ source_run_id: uuid }));
    // @ts-expect-error: there is no image to edit
    void (() => images.edit({ prompt: "x" }));
    // @ts-expect-error: a video needs a prompt
    void (() => client.videos.generate({ image: url }));
    // @ts-expect-error: there is no image to edit
    void (() => images.edit.nanobanana({ prompt: "x" }));
    // @ts-expect-error: JSON has no files
    void (() => images.edit.nanobanana.json({ prompt: "x", image: new Blob() }));
    // @ts-expect-error: the video starts with an image
    void (() => client.generateVideo({ prompt: "x" }));
    // @ts-expect-error: there is no image to enlarge
    void (() => images.upscale({}));
    // @ts-expect-error: there are no images to combine
    void (() => images.combine.nanobanana({ prompt: "x" }));
    // @ts-expect-error: the estimate of such a run has none either
    void (() => client.runs.estimate({ operation: "images.upscale", input: { factor: 2 } }));
  });

  it("complete the known names of models, and take any other", () => {
    const anyName: string = "fal:fal-ai/flux/dev";
    void (() => client.images.generate({ prompt: "x", model_type: anyName }));
    void (() => client.images.vary({ run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", model: anyName }));
    expectTypeOf<"gpt-image-2.5-flare" | "nano-banana-2.1" | "flux-dev">().toExtend<KnownNames<ModelName>>();
    expectTypeOf<"nano-banana-2.1">().toExtend<KnownNames<Exclude<ImagesGenerateInput["model_type"], undefined>>>();
    // Ended models are no names that an editor completes.
    expectTypeOf<"nano-banana-2">().not.toExtend<KnownNames<ModelName>>();
    expectTypeOf<"nano-bananas">().not.toExtend<KnownNames<ModelName>>();
  });

  it("work with and without new", () => {
    expect(Object.keys(new Client())).toEqual(Object.keys(createClient()));
  });
});

it("[SDK-17] the client and its list of calls are generated from the contract", () => {
  const { "x-printed": _, ...own } = contract as Contract & { "x-printed": string };
  for (const [path, text] of Object.entries(generateClient(own))) expect(read(path), path).toBe(text);
});

it("[SDK-20] everything of the first version still works", () => {
  const before = JSON.parse(read("sdk/test/contract-0.1.0.json")) as Surface;
  expect(findBreakingChanges(before, surfaceOf(contract))).toEqual([]);
  const narrower = structuredClone(before);
  narrower["images.generate"]!.required.push("width");
  delete narrower["images.generate"]!.fields.seed;
  (narrower["images.generate"]!.fields.model_type as string[]).shift();
  narrower["images.generate"]!.fields.prompt = ["a red bicycle"];
  narrower["images.generate"]!.fields.width = "string";
  delete narrower["images.generate"]!.answer["outputs[].url"];
  narrower["runs.get"]!.answer.progress = "string";
  delete narrower.generateVideo;
  expect(findBreakingChanges(before, narrower)).toHaveLength(8);
});
