// The list of tasks this vendor knows.
import { imageGenerate } from "./image-generate.ts";
import { imageSegment } from "./image-segment.ts";
import type { Task } from "./task.ts";

const tasks = new Map<string, Task>([imageGenerate, imageSegment].map((task) => [task.name, task]));

export const findTask = (name: string): Task | undefined => tasks.get(name);
