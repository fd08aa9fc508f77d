import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../test/scratch.ts";
import { writeAtomically } from "../state.ts";
import { HANDED_KEY_FILE, takeHandedKey } from "./handed-key.ts";
import { loadProviderChoice, PROVIDER_CHOICE_FILE } from "./provider-choice.ts";
import { watchProviderChoice } from "./watch-provider-choice.ts";

const hand = (data: string, provider: string, settings: object) =>
  writeAtomically(join(data, HANDED_KEY_FILE), JSON.stringify({ provider, settings }));

it("keeps the required settings of a known provider, and removes the file", () => {
  const data = temporaryDirectory();
  takeHandedKey(data);
  expect(existsSync(join(data, PROVIDER_CHOICE_FILE))).toBe(false);

  hand(data, "fal", { FAL_KEY: "a:b", FAL_API_URL: "http://elsewhere", DATABASE_URL: "x" });
  takeHandedKey(data);
  expect(loadProviderChoice(data)).toMatchObject({ providers: ["fal"], settings: { FAL_KEY: "a:b" } });
  expect(Object.keys(loadProviderChoice(data).settings)).toEqual(["FAL_KEY"]);
  expect(statSync(join(data, PROVIDER_CHOICE_FILE)).mode & 0o777).toBe(0o600);
  expect(existsSync(join(data, HANDED_KEY_FILE))).toBe(false);

  hand(data, "acme", { ACME_KEY: "a" });
  takeHandedKey(data);
  expect(loadProviderChoice(data).providers).toEqual(["fal"]);
  expect(existsSync(join(data, HANDED_KEY_FILE))).toBe(false);
});

it("a running gesso dev takes a key that is handed over, or was left before it watched", async () => {
  const data = temporaryDirectory();
  hand(data, "fal", { FAL_KEY: "a:b" });
  const changes = watchProviderChoice(data);
  onTestFinished(() => changes.close());
  await changes.next();
  expect(loadProviderChoice(data).providers).toEqual(["fal"]);
  hand(data, "openai", { OPENAI_API_KEY: "sk" });
  await changes.next();
  expect(loadProviderChoice(data).providers).toEqual(["fal", "openai"]);
});
