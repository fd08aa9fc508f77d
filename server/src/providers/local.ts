// The local provider: image operations on this machine, synchronous and free. Unchanged areas keep their exact pixels.
// Sizes are checked here, from the headers; pixels are decoded in isolated processes.
import { z } from "zod";
import type { Task } from "../contract/operation.ts";
import { Fault } from "../faults/faults.ts";
import { readImageSize } from "../files/formats/image-size.ts";
import { FREE } from "../prices/price.ts";
import { jobFailed } from "./call-provider.ts";
import { planBlend } from "./local/blend.ts";
import { planCombine } from "./local/combine.ts";
import { planCut } from "./local/cut.ts";
import { readInputs } from "./local/inputs.ts";
import { type PlanLocalTask, rejectInput } from "./local/local-task.ts";
import { planResize } from "./local/resize.ts";
import { honourAll } from "./parameter-support.ts";
import { defineProvider } from "./provider.ts";

/** No settings, so the provider is always enabled. */
const LocalEnv = z.object({});

const TASKS: Partial<Record<Task, PlanLocalTask>> = {
  "image.combine": planCombine,
  "image.cut": planCut,
  "image.blend": planBlend,
  "image.resize": planResize,
};

export const local = defineProvider<z.output<typeof LocalEnv>>({
  id: "local",
  preference: 20,
  env: LocalEnv,
  offers: Object.keys(TASKS).map((task) => ({
    task: task as Task,
    model: "local",
    upstreamModel: "local",
    recovery: "free",
    price: FREE,
    parameters: honourAll(task as Task),
  })),
  resultOrigins: () => [],

  async submit(job, _offer, context) {
    // A storage error is passed on unchanged, so that the job is retried later.
    const { images, mask, masks, options } = await readInputs(job);
    const chosen = masks.length > 0 ? masks : mask ? [mask] : [];
    const pixelTask = planTask(TASKS[job.task]!, { images, masks: chosen, options });
    const outputs = await context.runPixelTask(pixelTask, { images, masks: chosen });
    const format = pixelTask.name === "combine" ? pixelTask.output_format : "png";
    return { state: "done", outputs: outputs.map((output) => ({ ...output, media_type: `image/${format}` })) };
  },

  async poll() {
    throw new Fault("internal_error", {}, { cause: "local jobs are never polled" });
  },
});

const UNREADABLE = ["image_undecodable", "unsupported_image_format"];

type TaskFiles = { images: Uint8Array[]; masks: Uint8Array[]; options: object };

function planTask(plan: PlanLocalTask, { images, masks, options }: TaskFiles) {
  try {
    return plan({ images: images.map(readImageSize), masks: masks.map(readImageSize), options });
  } catch (thrown) {
    if (thrown instanceof z.ZodError) throw rejectInput("options", thrown);
    // The header of a stored image cannot be read.
    if (thrown instanceof Fault && UNREADABLE.includes(thrown.code)) throw jobFailed(thrown);
    throw thrown;
  }
}
