import { expect, it } from "vitest";
import { modelIds } from "../contract/models.ts";
import { providers } from "./all.ts";
import { NAMED_MODELS, toModelId } from "./model-names.ts";

/** They have no models of others: the sandbox imitates all names, and `local` is Gesso's own work on files. */
const WITHOUT_NAMES = ["sandbox", "local"];
const offered = new Set(
  providers
    .filter(({ id }) => !WITHOUT_NAMES.includes(id))
    .flatMap(({ id, offers }) => offers.map(({ upstreamModel }) => `${id}:${upstreamModel}`)),
);
const named = NAMED_MODELS.flatMap(({ paths }) => paths);

it("every built-in path has a name, and every named path is offered", () => {
  expect(named.toSorted()).toEqual([...offered].sort());
});

it("no path and no ID stands for two models", () => {
  const ids = NAMED_MODELS.map(({ name }) => toModelId(name));
  expect(new Set(named).size).toBe(named.length);
  expect(new Set(ids).size).toBe(ids.length);
});

it("IDs can be written in a shell, a URL and gesso.yaml", () => {
  for (const { name } of NAMED_MODELS) expect(toModelId(name)).toMatch(/^[a-z0-9][a-z0-9.-]{0,63}$/);
  expect(toModelId("FLUX.1 Kontext [max]")).toBe("flux.1-kontext-max");
});

it("an ID that is a name of the interface as well has the same model there", () => {
  const shared = NAMED_MODELS.filter(({ name }) => (modelIds as string[]).includes(toModelId(name)));
  for (const { name, paths } of shared) {
    const offers = providers.flatMap((provider) =>
      provider.offers.filter(({ upstreamModel }) => paths.includes(`${provider.id}:${upstreamModel}`)),
    );
    expect([...new Set(offers.map(({ model }) => model))], name).toContain(toModelId(name));
  }
});
