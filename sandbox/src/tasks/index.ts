// The list of tasks this vendor knows.
import { imageGenerate } from "./image-generate.ts";
import type { Task } from "./task.ts";

const tasks = new Map<string, Task>([imageGenerate].map((task) => [task.name, task]));

export const findTask = (name: string): Task | undefined => tasks.get(name);
