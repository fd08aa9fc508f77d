// The list of tasks this vendor knows.
import { imageGenerate } from "./image-generate.ts";
import { imageReframe } from "./image-reframe.ts";
import { imageRemove } from "./image-remove.ts";
import { imageRemoveBackground } from "./image-remove-background.ts";
import { imageSegment } from "./image-segment.ts";
import { imageUpscale } from "./image-upscale.ts";
import type { Task } from "./task.ts";

const list: readonly Task[] = [
  imageGenerate,
  imageReframe,
  imageRemove,
  imageRemoveBackground,
  imageSegment,
  imageUpscale,
];

const tasks = new Map(list.map((task) => [task.name, task]));

export const findTask = (name: string): Task | undefined => tasks.get(name);
