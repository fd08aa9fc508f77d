// The cache never draws the same image twice while it holds it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createInputFiles } from "./inputs.ts";
import { openJobStore } from "./job-store.ts";
import { createOutputCache } from "./output-cache.ts";

test("equal requests are drawn once, also when they are concurrent", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "gallery-"));
  const jobStore = openJobStore(dataDir);
  onTestFinished(() => {
    jobStore.close();
    rmSync(dataDir, { recursive: true });
  });
  const gallery = createOutputCache(createInputFiles(dataDir, new AbortController().signal));
  const request = { model: "m", task: "image.generate", prompt: "a hill", width: 32, height: 32, count: 1, images: [] };
  const accept = (id: string, seed: number) =>
    jobStore.accept({ fact: "accepted", id, at: "", request, behaviour: {}, seed, idempotency_key: null });
  const [one, two, other] = [accept("one", 1), accept("two", 1), accept("other", 2)];
  const [first, second, third] = await Promise.all([one, two, other].map((job) => gallery.draw(job, 0)));
  expect(second).toBe(first);
  expect(await gallery.draw(two, 0)).toBe(first);
  expect(third).not.toBe(first);
});
