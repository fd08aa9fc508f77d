// Gesso as a provider of the AI SDK (`ai`): images for `generateImage`, videos for `experimental_generateVideo`. The
// types of the AI SDK are declared structurally, so this package does not depend on it.
import { ValidationError } from "./errors.ts";
import type { Images, ImagesGenerateInput } from "./generated/images.ts";
import type { GenerateVideoInput, Videos } from "./generated/videos.ts";
import type { ImageSource } from "./sources.ts";
import type { FinishedRun } from "./wait-for-run.ts";

/** A file in the format of the AI SDK. */
export type ModelFile = { type: "file"; mediaType: string; data: string | Uint8Array } | { type: "url"; url: string };

type Options = {
  prompt: string | undefined;
  seed: number | undefined;
  providerOptions: Record<string, Record<string, unknown>>;
  abortSignal?: AbortSignal;
};
type ImageOptions = Options & {
  n: number;
  size: `${number}x${number}` | undefined;
  aspectRatio: `${number}:${number}` | undefined;
  files: ModelFile[] | undefined;
};
type VideoOptions = Options & {
  aspectRatio: string | undefined;
  duration: number | undefined;
  fps: number | undefined;
  image: ModelFile | undefined;
};
type Warning = { type: "other"; message: string };
type ResponseMetadata = { timestamp: Date; modelId: string; headers: Record<string, string> | undefined };
type ModelIdentity = { readonly specificationVersion: "v4"; readonly provider: string; readonly modelId: string };

/** Implements `ImageModelV4`. */
export type ImageModel = ModelIdentity & {
  readonly maxImagesPerCall: number;
  /** Called by the AI SDK. */
  doGenerate(options: ImageOptions): Promise<{ images: Uint8Array[]; warnings: Warning[]; response: ResponseMetadata }>;
};

type VideoFile = { type: "binary"; data: Uint8Array; mediaType: string };

/** Implements `Experimental_VideoModelV4`. */
export type VideoModel = ModelIdentity & {
  readonly maxVideosPerCall: number;
  /** Called by the AI SDK. */
  doGenerate(options: VideoOptions): Promise<{ videos: VideoFile[]; warnings: Warning[]; response: ResponseMetadata }>;
};

type RequiredClient = { images: Pick<Images, "generate">; generateVideo: Videos["generateVideo"] };
type ModelType = NonNullable<Parameters<Images["generate"]>[0]["model_type"]>;

type Models = {
  /** For `generateImage`. Default: `flux-dev`. */
  image(modelType?: ModelType): ImageModel;
  /** For `experimental_generateVideo`. */
  video(): VideoModel;
};

/**
 * Gesso's models for the AI SDK. Pass fields that the AI SDK does not have in `providerOptions.gesso`.
 * @example const { image } = await generateImage({ model: gesso(client).image("flux-dev"), prompt: "a red bicycle" })
 */
export function gesso(client: RequiredClient): Models {
  return { image: (modelType = "flux-dev") => imageModel(client, modelType), video: () => videoModel(client) };
}

const modelIdentity = (modelId: string): ModelIdentity => ({ specificationVersion: "v4", provider: "gesso", modelId });
const toImageSource = (file: ModelFile): ImageSource =>
  file.type === "url" ? file.url : typeof file.data === "string" ? bytesOf(file.data) : file.data;
const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
const waitOptions = ({ abortSignal }: Options) => (abortSignal ? { signal: abortSignal } : {});
const withoutUndefined = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
const resultMetadata = ({ warnings, finished_at }: FinishedRun, modelId: string) => ({
  warnings: warnings.map((message): Warning => ({ type: "other", message })),
  response: { timestamp: new Date(finished_at ?? Date.now()), modelId, headers: undefined },
});

const imageModel = (client: RequiredClient, model_type: ModelType): ImageModel => ({
  ...modelIdentity(model_type),
  maxImagesPerCall: 4,
  async doGenerate(options) {
    const [width, height] = options.size?.split("x").map(Number) ?? [];
    const [first] = options.files ?? [];
    const fields = { width, height, aspect_ratio: options.aspectRatio, seed: options.seed };
    const input = {
      prompt: options.prompt ?? "",
      model_type,
      ...withoutUndefined({ ...fields, reference_image_url: first && toImageSource(first) }),
      ...(options.n > 1 && { batch_size: options.n }),
      ...options.providerOptions.gesso,
    };
    // The model is known at run time only; the server says what it requires.
    const run = await client.images.generate(input as ImagesGenerateInput).wait(waitOptions(options));
    return { images: await Promise.all(run.images.map((image) => image.bytes())), ...resultMetadata(run, model_type) };
  },
});

const videoModel = (client: RequiredClient): VideoModel => ({
  ...modelIdentity("video"),
  maxVideosPerCall: 1,
  async doGenerate(options) {
    const { prompt, seed, duration, fps, aspectRatio: aspect_ratio, image } = options;
    const own = options.providerOptions.gesso;
    const input = withoutUndefined({
      prompt,
      seed,
      duration,
      fps,
      aspect_ratio,
      image_url: image && toImageSource(image),
      ...own,
    });
    // Without an image, the server says that one is required.
    const run = await client.generateVideo(input as GenerateVideoInput).wait(waitOptions(options));
    if (!run.video) throw new ValidationError(`Run ${run.run_id} produced no video`, { runId: run.run_id });
    const data = await run.video.bytes();
    return { videos: [{ type: "binary", data, mediaType: "video/mp4" }], ...resultMetadata(run, "video") };
  },
});
