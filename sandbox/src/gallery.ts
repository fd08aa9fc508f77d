// Draws outputs when they are first asked for, a few at a time, and keeps the latest in memory: equal requests are
// drawn once.
import { createHash } from "node:crypto";
import type { Inputs } from "./inputs.ts";
import type { Job } from "./job.ts";
import { findTask } from "./tasks/index.ts";

const keptBytes = 96 * 1024 * 1024;
const atOnce = 2;

export type Gallery = { draw(job: Job, index: number): Promise<Buffer> };

const nameOf = ({ request, seed }: Job, index: number): string => {
  const { task, model, prompt, negative_prompt, width, height, aspect_ratio, images, mask, options } = request;
  const asked = [task, model, prompt, negative_prompt, width, height, aspect_ratio, images, mask, options, seed, index];
  return createHash("sha256").update(JSON.stringify(asked)).digest("base64");
};

export const openGallery = (inputs: Inputs): Gallery => {
  const kept = new Map<string, Buffer>();
  const underway = new Map<string, Promise<Buffer>>();
  const queue: (() => void)[] = [];
  let drawing = 0;
  let bytes = 0;

  const keep = (name: string, picture: Buffer): void => {
    kept.set(name, picture);
    bytes += picture.length;
    // A Map remembers the order of insertion, and a picture is put in again when it is used: the first is the oldest.
    for (const [oldest, old] of kept) {
      if (bytes <= keptBytes) break;
      kept.delete(oldest);
      bytes -= old.length;
    }
  };

  const inTurn = async (draw: () => Promise<Buffer>): Promise<Buffer> => {
    if (drawing >= atOnce) await new Promise<void>((resolve) => queue.push(resolve));
    else drawing += 1;
    try {
      return await draw();
    } finally {
      // The place is handed on, so that nobody can slip in between.
      const following = queue.shift();
      if (following) following();
      else drawing -= 1;
    }
  };

  const drawNew = async (name: string, job: Job, index: number): Promise<Buffer> => {
    const { request, seed } = job;
    const task = findTask(request.task);
    if (!task) throw new Error(`no task ${request.task}`);
    const picture = await inTurn(() => task.draw({ request, seed, index, inputs: () => inputs.read(job) }));
    keep(name, picture);
    return picture;
  };

  return {
    draw: async (job, index) => {
      const name = nameOf(job, index);
      const ready = kept.get(name);
      if (ready) {
        kept.delete(name);
        kept.set(name, ready);
        return ready;
      }
      const begun = underway.get(name) ?? drawNew(name, job, index).finally(() => underway.delete(name));
      underway.set(name, begun);
      return begun;
    },
  };
};
