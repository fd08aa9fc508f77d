// Why some offers are in recovery class C: the packages of their vendors know no idempotency key and no list of jobs. A
// version that has one fails here, so that the class is looked at again.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { providers } from "../../src/providers/all.ts";
import { findPackage } from "./contracts.ts";

const read = (name: string, file: string) => readFileSync(join(findPackage(name), file), "utf8");
const classesOf = (id: string) => [
  ...new Set(providers.find((provider) => provider.id === id)!.offers.map(({ recovery }) => recovery)),
];
/** The methods of a class in a declaration file. */
function methodsOf(text: string, name: string): string[] {
  const start = text.indexOf(`class ${name} extends`);
  expect(start, name).toBeGreaterThan(-1);
  const body = text.slice(start, text.indexOf("\n}", start));
  return [...new Set([...body.matchAll(/^ {4}(\w+)\(/gm)].map(([, method]) => method!))].toSorted();
}

it("OpenAI's client sends no idempotency key, and has no list of images", () => {
  const client = new OpenAI({ apiKey: "none" }) as unknown as { idempotencyHeader?: string };
  expect(client.idempotencyHeader).toBeUndefined();
  expect(methodsOf(read("openai", "resources/images.d.ts"), "Images")).toEqual([
    ...["createVariation", "edit", "generate"],
  ]);
  expect(classesOf("openai")).toEqual(["none"]);
});

it("Runway's client sends no idempotency key, and reads a task only by its ID", () => {
  expect(read("@runwayml/sdk", "client.js")).not.toMatch(/idempotencyHeader = ["']/);
  expect(methodsOf(read("@runwayml/sdk", "resources/tasks.d.ts"), "Tasks")).toEqual(["delete", "retrieve"]);
  expect(classesOf("runway")).toEqual(["none"]);
});

it("Google's client reads an interaction only by its ID", () => {
  const text = read("@google/genai", "dist/genai.d.ts");
  const start = text.indexOf("create(params: CreateAgentInteractionParamsNonStreaming");
  const body = text.slice(start, text.indexOf("\n}", start));
  const methods = [...new Set([...body.matchAll(/^ {4}(\w+)\(/gm)].map(([, method]) => method))];
  expect(methods.length).toBeGreaterThan(1);
  expect(methods).not.toContain("list");
  expect(classesOf("gemini")).toEqual(["none"]);
});

it("Luma's and Replicate's clients have lists, by which lost jobs are found", () => {
  expect(methodsOf(read("lumaai", "resources/generations/generations.d.ts"), "Generations")).toContain("list");
  expect(read("replicate", "index.d.ts")).toMatch(/predictions: \{[\s\S]*?list\(/);
  expect(["luma", "replicate"].map(classesOf)).toEqual([["find"], ["find"]]);
});
