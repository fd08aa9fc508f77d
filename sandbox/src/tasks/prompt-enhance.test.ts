// Prompts become richer and keep what they say.
import { expect, test } from "vitest";
import { runToSuccess } from "../../test/images.ts";
import { startSandboxHarness } from "../../test/sandbox-harness.ts";

const task = "prompt.enhance";
type Enhanced = { enhanced_prompt: string; changes: { kind: string; added: string }[] };

test("the prompt stays, and every change is listed", async () => {
  const rig = await startSandboxHarness();
  const job = await runToSuccess(rig, {
    task,
    prompt: "a cat on a roof",
    options: { model_type: "flux-dev", style: "anime" },
  });
  const { enhanced_prompt, changes } = job.data as Enhanced;
  expect(job.outputs).toEqual([]);
  expect(enhanced_prompt).toBe(["a cat on a roof", ...changes.map(({ added }) => added)].join(", "));
  expect(changes.map(({ kind }) => kind)).toEqual(["style", "light", "composition"]);
});

test("nothing is added twice", async () => {
  const rig = await startSandboxHarness();
  const prompt = "a photo of a cat, soft light, close-up";
  const { data } = await runToSuccess(rig, { task, prompt });
  expect(data).toEqual({ enhanced_prompt: prompt, changes: [] });
  const once = (await runToSuccess(rig, { task, prompt: "a hill" })).data as Enhanced;
  const twice = (await runToSuccess(rig, { task, prompt: once.enhanced_prompt })).data as Enhanced;
  const parts = twice.enhanced_prompt.split(", ");
  expect(new Set(parts).size).toBe(parts.length);
});

test("the result depends on the seed and on the kind of model", async () => {
  const rig = await startSandboxHarness();
  const ask = async (fields: Record<string, unknown>) =>
    (await runToSuccess(rig, { task, prompt: "a hill", ...fields })).data as Enhanced;
  expect(await ask({ seed: 1 })).toEqual(await ask({ seed: 1 }));
  const texts = await Promise.all([1, 2, 3, 4, 5, 6].map(async (seed) => (await ask({ seed })).enhanced_prompt));
  expect(new Set(texts).size).toBeGreaterThan(2);
  expect((await ask({ options: { model_type: "video" } })).changes[0]!.kind).toBe("motion");
  expect((await ask({ options: { model_type: "flux-kontext-max" } })).changes[0]!.kind).toBe("preserve");
});

test("the language of additions can be chosen", async () => {
  const rig = await startSandboxHarness();
  const { data } = await runToSuccess(rig, {
    task,
    prompt: "ein Turm",
    options: { language: "de", model_type: "qwen" },
  });
  expect((data as Enhanced).enhanced_prompt).toMatch(/^ein Turm, .*(?:licht|Licht)/);
});
