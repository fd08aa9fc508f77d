// The tasks of the sandbox.
import { imageCharacter } from "./image-character.ts";
import { imageDescribe } from "./image-describe.ts";
import { imageEdit } from "./image-edit.ts";
import { imageGenerate } from "./image-generate.ts";
import { imageReference } from "./image-reference.ts";
import { imageReframe } from "./image-reframe.ts";
import { imageRemove } from "./image-remove.ts";
import { imageRemoveBackground } from "./image-remove-background.ts";
import { imageSegment } from "./image-segment.ts";
import { imageUpscale } from "./image-upscale.ts";
import { promptEnhance } from "./prompt-enhance.ts";
import type { Task } from "./task.ts";
import { videoGenerate } from "./video-generate.ts";

const list: readonly Task[] = [
  imageCharacter,
  imageDescribe,
  imageEdit,
  imageGenerate,
  imageReference,
  imageReframe,
  imageRemove,
  imageRemoveBackground,
  imageSegment,
  imageUpscale,
  promptEnhance,
  videoGenerate,
];

const tasks = new Map(list.map((task) => [task.name, task]));

export const findTask = (name: string): Task | undefined => tasks.get(name);
