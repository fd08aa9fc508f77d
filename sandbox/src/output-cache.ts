// Draws outputs when they are first requested, a few at a time, and caches the latest in memory: equal requests are
// drawn once.
import { createHash } from "node:crypto";
import type { InputFiles } from "./inputs.ts";
import type { Job } from "./job.ts";
import { createSemaphore } from "./semaphore.ts";
import { findTask } from "./tasks/index.ts";

const MAX_CACHED_BYTES = 96 * 1024 * 1024;
const atOnce = 2;

export type OutputCache = { draw(job: Job, index: number): Promise<Buffer> };

const cacheKeyOf = ({ id, request, seed }: Job, index: number): string => {
  const { task, model, prompt, negative_prompt, width, height, aspect_ratio, images, mask, options } = request;
  const input = [task, model, prompt, negative_prompt, width, height, aspect_ratio, images, mask, options, seed, index];
  // The image behind a URL may change; only bytes that came with a request can be cached.
  if ([...images, mask].some((image) => image && "url" in image)) input.push(id);
  return createHash("sha256").update(JSON.stringify(input)).digest("base64");
};

export const createOutputCache = (inputs: InputFiles): OutputCache => {
  const stored = new Map<string, Buffer>();
  const underway = new Map<string, Promise<Buffer>>();
  const withSlot = createSemaphore(atOnce);
  let bytes = 0;

  const keep = (name: string, sourceImage: Buffer): void => {
    stored.set(name, sourceImage);
    bytes += sourceImage.length;
    // A Map keeps insertion order, and an image is reinserted when it is used: the first is the least recently used.
    for (const [oldest, old] of stored) {
      if (bytes <= MAX_CACHED_BYTES) break;
      stored.delete(oldest);
      bytes -= old.length;
    }
  };

  const drawNew = async (name: string, job: Job, index: number): Promise<Buffer> => {
    const { request, seed } = job;
    const file = inputs.outputPathFor(job);
    const task = findTask(request.task);
    if (!task) throw new Error(`no task ${request.task}`);
    const sourceImage = await withSlot(() =>
      task.renderOutput({ request, seed, index, file, inputs: () => inputs.read(job) }),
    );
    keep(name, sourceImage);
    return sourceImage;
  };

  return {
    draw: async (job, index) => {
      const name = cacheKeyOf(job, index);
      const ready = stored.get(name);
      if (ready) {
        stored.delete(name);
        stored.set(name, ready);
        return ready;
      }
      const begun = underway.get(name) ?? drawNew(name, job, index).finally(() => underway.delete(name));
      underway.set(name, begun);
      return begun;
    },
  };
};
