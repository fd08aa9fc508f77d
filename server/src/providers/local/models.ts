// Local models that run on a CPU. They are disabled until `npm run models -- install` has downloaded them. Each model
// runs in a process of its own.
import { z } from "zod";
import { Fault } from "../../faults/faults.ts";
import { readImageSize } from "../../files/formats/image-size.ts";
import { FREE } from "../../prices/price.ts";
import { declareParameters, honourAll } from "../parameter-support.ts";
import { defineProvider, type Offer } from "../provider.ts";
import { readInputs } from "./inputs.ts";
import { exceedsLimit, rejectInput, requireSameShape } from "./local-task.ts";
import { areModelsInstalled, modelsFolder } from "./model-packages.ts";
import { createModelProcess, type ModelLimits, type ModelName } from "./model-process.ts";

const LocalModelsEnv = z
  .object({
    LOCAL_MODELS_DIR: z
      .string()
      .optional()
      .describe(
        "Directory of the local models that `npm run models -- install` downloads. Default: .gesso/models in the working directory",
      ),
  })
  .refine((env) => areModelsInstalled(modelsFolder(env.LOCAL_MODELS_DIR)), "the local models are not installed");

type LocalOffer = Offer & { upstreamModel: ModelName };

const FREE_WORK = { recovery: "free", price: FREE } as const;

/** What two CPU cores finish within the submission timeout. */
const MAX_UPSCALED_PIXELS = 1_100_000;
/** The time grows with the area; this many pixels take a few seconds. */
const MAX_MASKED_PIXELS = 4_000_000;

const offers: LocalOffer[] = [
  {
    ...FREE_WORK,
    task: "image.remove-background",
    model: "remove-background-default",
    upstreamModel: "isnet",
    limits: { count: 1, images: 1, mask: false },
    equivalence: "remove-background",
    parameters: honourAll("image.remove-background"),
  },
  {
    ...FREE_WORK,
    task: "image.remove",
    model: "remove-default",
    upstreamModel: "telea",
    limits: { count: 1, images: 1, mask: true, source: { mostMaskedPixels: MAX_MASKED_PIXELS } },
    equivalence: "object-removal",
    // The model fills the masked area; it has no prompt.
    parameters: declareParameters("image.remove", {
      honours: ["images", "mask"],
      ignores: ["prompt", "remove_shadow", "multiple"],
    }),
    supports: (job) => job.mask !== undefined,
  },
  {
    ...FREE_WORK,
    task: "image.upscale",
    model: "upscale-default",
    upstreamModel: "esrgan",
    limits: { count: 1, images: 1, mask: false, source: { mostPixels: MAX_UPSCALED_PIXELS } },
    equivalence: "upscale",
    parameters: honourAll("image.upscale"),
  },
];

const TIMES = { waitSeconds: 5, idleSeconds: 60 };
const LIMITS: Record<ModelName, ModelLimits> = {
  isnet: { heapMegabytes: 1024, mostMegabytes: 4096, ...TIMES },
  telea: { heapMegabytes: 1024, mostMegabytes: 2048, ...TIMES },
  esrgan: { heapMegabytes: 1024, mostMegabytes: 2048, ...TIMES },
};

type ModelProcess = ReturnType<typeof createModelProcess>;
const running = new Map<string, ModelProcess>();

const processOf = (name: ModelName, folder: string, isWeakAllowed = false): ModelProcess => {
  const key = `${name} ${folder}`;
  const known = running.get(key) ?? createModelProcess(name, { folder, limits: LIMITS[name], isWeakAllowed });
  running.set(key, known);
  return known;
};

export const localModels = defineProvider<z.output<typeof LocalModelsEnv>>({
  id: "local-models",
  preference: 10,
  env: LocalModelsEnv,
  offers,
  resultOrigins: () => [],

  async submit(job, offer, context) {
    const { images, mask, options } = await readInputs(job);
    const [image] = images;
    if (!image) throw rejectInput("images");
    const size = readImageSize(image);
    if (mask) requireSameShape(readImageSize(mask), size);
    const { mostPixels, mostMaskedPixels } = offer.limits?.source ?? {};
    if (mostPixels && size.width * size.height > mostPixels)
      throw exceedsLimit("image_too_large", { most_pixels: mostPixels });
    const folder = modelsFolder(context.env.LOCAL_MODELS_DIR);
    const model = processOf(offer.upstreamModel as ModelName, folder, context.isWeakIsolationAllowed);
    const bytes = await model.perform({ image, mask, options, mostMaskedPixels }, context.timeoutSeconds);
    return { state: "done", outputs: [{ bytes, media_type: "image/png" }] };
  },

  async poll() {
    throw new Fault("internal_error", {}, { cause: "local jobs are never polled" });
  },
});
