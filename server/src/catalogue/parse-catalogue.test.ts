// Invalid files and their error messages: the position, what is wrong, and what would be valid.
import { expect, it } from "vitest";
import { z } from "zod";
import { flatPrice } from "../prices/price.ts";
import { offerFromRow } from "../providers/offer-row.ts";
import { defineProvider, type Offer } from "../providers/provider.ts";
import { applyCatalogue } from "./apply-catalogue.ts";
import { parseCatalogue } from "./parse-catalogue.ts";

const offer = (model: string, upstreamModel: string, more: Partial<Offer> = {}): Offer => ({
  ...{ task: "image.generate", model, upstreamModel, recovery: "none", price: flatPrice(0.04), parameters: {} },
  ...more,
});
const vendor = (id: string, offers: Offer[]) =>
  defineProvider({
    ...{ id, offers, env: z.object({}), resultOrigins: () => [] },
    submit: () => Promise.reject(new Error("a catalogue sends nothing")),
    poll: () => Promise.reject(new Error("a catalogue asks nothing")),
  });
const registry = [
  vendor("local", [offer("flux-dev", "built-in", { recovery: "free" })]),
  vendor("fal", [offer("flux-dev", "fal-ai/flux/dev"), offer("flux-dev", "fal-ai/flux-lora")]),
  vendor("openai", [offer("vendora", "gpt-image-2"), offer("vendora", "gpt-image-2", { task: "image.edit" })]),
];

function complaintsOf(text: string): string[] {
  const { file, problems, formatProblems: tell } = parseCatalogue(text, "gesso.yaml");
  return tell([...problems, ...applyCatalogue(registry, file, "2030-06-15", offerFromRow).problems]);
}
const models = (...lines: string[]) => `models:\n  flux-dev:\n${lines.map((line) => `    - ${line}\n`).join("")}`;

const WRONG: [what: string, text: string, problem: string][] = [
  [
    "text that is no YAML",
    "providers:\n  fal: {",
    "2:9 Flow map in block collection must be sufficiently indented and end with a }",
  ],
  ["one key twice", "providers:\n  fal: on\n  fal: off", "3:3 Map keys must be unique"],
  ["a list at the top", "- fal", "1:1 the file must be a mapping of providers and models"],
  ["an unknown part", "provider:\n  fal: on", "1:1 unknown setting provider; did you mean providers?"],
  ["an unknown part far from any", "\n\nhosts: 3", "3:1 unknown setting hosts; known names are providers, models"],
  ["a list of providers", "providers:\n  - fal", "2:3 providers must be a mapping of providers"],
  ["an unknown provider", "providers:\n  fall: off", "2:3 unknown provider fall; did you mean fal?"],
  [
    "a provider far from any",
    "providers:\n  acme: off",
    "2:3 unknown provider acme; known names are local, fal, openai",
  ],
  ["a switch that is none", "providers:\n  fal: maybe", "2:8 enabled must be on or off"],
  [
    "an unknown setting",
    "providers:\n  fal:\n    concurent: 3",
    "3:5 unknown setting concurent; did you mean concurrent?",
  ],
  [
    "no jobs at once",
    "providers:\n  fal: { concurrent: 0 }",
    "2:22 concurrent must be the maximum number of jobs at a time, 1 or more, or null for no limit",
  ],
  [
    "a number in quotes",
    'providers:\n  fal: { per_minute: "60" }',
    "2:22 per_minute must be the maximum number of jobs per minute, 1 or more, or null for no limit",
  ],
  ["an unknown model", "models:\n  flux-def: [fal]", "2:3 unknown model flux-def; did you mean flux-dev?"],
  [
    "a name that no entry adds",
    "models:\n  seedream-5: [fal]",
    "2:3 unknown model seedream-5: to add a name, set as and like, or as and fields, in each of its entries",
  ],
  [
    "a name that is no name",
    "models:\n  fal:seedream: [{ provider: fal, like: fal-ai/flux/dev, as: x }]",
    "2:3 unknown model fal:seedream: to add a name, set as and like, or as and fields, in each of its entries",
  ],
  [
    "a model without a list",
    "models:\n  flux-dev: fal",
    "2:13 a model must have a list of providers, one entry each, in order of preference",
  ],
  ["a number as a line", models("7"), "3:7 an entry must be a provider name, or a mapping with provider"],
  ["a line without a provider", models("price: 3"), "3:7 an entry must name its provider"],
  ["an unknown provider in a line", models("fall"), "3:7 unknown provider fall; did you mean fal?"],
  [
    "an unknown provider in a mapping",
    models("provider: opeani"),
    "3:17 unknown provider opeani; did you mean openai?",
  ],
  [
    "an unknown word in a line",
    models("provider: local\n      pirce: 1"),
    "4:7 unknown setting pirce; did you mean price?",
  ],
  [
    "a price in words",
    models("provider: local\n      price: cheap"),
    "4:14 price must be a number of US dollars, 0 or more, or unknown, or a mapping of rows, most, as_of and source",
  ],
  [
    "a price below nothing",
    models("provider: local\n      price: -1"),
    "4:14 price must be a number of US dollars, 0 or more, or unknown, or a mapping of rows, most, as_of and source",
  ],
  [
    "a basis that there is not",
    models("provider: local\n      price: 1\n      per: pixel"),
    "5:12 per must be image, megapixel, second or call",
  ],
  ["a basis without a price", models("provider: local\n      per: call"), "4:12 per needs price: set both"],
  [
    "an unknown limit",
    models("provider: local\n      limits: { sizs: [1x1] }"),
    "4:17 unknown setting sizs; did you mean sizes?",
  ],
  [
    "an unknown bound of sides",
    models("provider: local\n      limits:\n        sides: { max: 3 }"),
    "5:18 unknown setting max; known names are least, most, step, least_pixels, most_pixels, most_ratio",
  ],
  [
    "a size that is none",
    models("provider: local\n      limits: { sizes: [large] }"),
    "4:25 sizes must be a list of sizes such as [1024x1024, 1536x1024]",
  ],
  [
    "a range that ends before it begins",
    models("provider: local\n      limits: { duration: { least: 5, most: 2 } }"),
    "4:27 duration must be { least, most } in seconds, with least <= most",
  ],
  [
    "a state that there is not",
    models("provider: local\n      lifecycle: dead"),
    "4:18 lifecycle must be active, deprecated or retired, or a mapping of state, since and successor",
  ],
  [
    "a day that is none",
    models("provider: local\n      lifecycle: { state: retired, since: soon }"),
    "4:43 since must be a day such as 2026-12-31",
  ],
  [
    "an unknown value of on_unknown",
    models("provider: local\n      on_unknown: retry"),
    "4:19 on_unknown must be fail or resubmit",
  ],
  [
    "a provider that has nothing for the model",
    models("openai"),
    "3:7 openai does not offer flux-dev. To add it, set as and set like to one of: vendora",
  ],
  [
    "a task that the model is not offered for",
    "models:\n  vendora:\n    - { provider: openai, task: image.edti }",
    "3:33 openai does not offer image.edti with vendora; did you mean image.edit?",
  ],
  [
    "an offer that there is not",
    models("{ provider: fal, offer: fal-ai/flux-laro }"),
    "3:31 fal has no offer fal-ai/flux-laro for flux-dev; did you mean fal-ai/flux-lora?",
  ],
  [
    "a name that could be for two offers",
    models("{ provider: fal, as: fal-ai/new }"),
    "3:28 as matches several offers of fal. Set offer to fal-ai/flux/dev or fal-ai/flux-lora",
  ],
  [
    "another name for what is built in",
    models("{ provider: local, as: other }"),
    "3:30 built-in is built in. Its upstream model cannot be changed",
  ],
  [
    "two lines for one offer",
    models("fal", "{ provider: fal, offer: fal-ai/flux-lora }"),
    "4:7 another entry of flux-dev already changes fal-ai/flux-lora of fal",
  ],
  [
    "two offers with one name",
    models("{ provider: fal, offer: fal-ai/flux-lora, as: fal-ai/flux/dev }"),
    "3:53 fal would have two offers of flux-dev with the upstream model fal-ai/flux/dev",
  ],
  [
    "like without a name",
    models("{ provider: openai, like: vendora }"),
    "3:33 like needs as: the name of the model at openai",
  ],
  [
    "like something that is not there",
    models("{ provider: openai, like: vendorz, as: x }"),
    "3:33 openai has no offer vendorz to copy; did you mean vendora?",
  ],
  [
    "like beside offer",
    models("{ provider: openai, like: vendora, offer: gpt-image-2, as: x }"),
    "3:33 like creates a new offer and offer selects an existing one. Set only one of them",
  ],
  [
    "like two things at once",
    "models:\n  vendorc:\n    - { provider: fal, like: flux-dev, as: x }",
    "3:30 like flux-dev matches fal-ai/flux/dev or fal-ai/flux-lora. Set like to one of these names",
  ],
  [
    "like something for a task that is not asked",
    models("{ provider: openai, like: vendora, task: video.generate, as: x }"),
    "3:33 no task of openai's vendora can be requested with flux-dev",
  ],
];

it.each(WRONG)("%s", (_, text, problem) => {
  expect(complaintsOf(text)).toEqual([`gesso.yaml:${problem}`]);
});

it("reports all errors together, each with its position", () => {
  const text = `
providers:
  fall: off
  fal: { concurrent: many, per_hour: 3 }
models:
  flux-dev:
    - acme
    - { provider: fal, price: free, per: pixel }
    - { provider: openai, like: flux-dev, as: y }
`;
  expect(complaintsOf(text).map((problem) => problem.split(" ")[0])).toEqual([
    ...["gesso.yaml:3:3", "gesso.yaml:4:22", "gesso.yaml:4:28"],
    ...["gesso.yaml:7:7", "gesso.yaml:8:31", "gesso.yaml:8:42", "gesso.yaml:9:33"],
  ]);
});

it("follows YAML anchors", () => {
  const text = "models:\n  flux-dev:\n    - &mine { provider: fal, pirce: 1 }\n  vendora:\n    - *mine";
  expect(complaintsOf(text)).toEqual([
    ...["gesso.yaml:3:30 unknown setting pirce; did you mean price?"],
    ...["gesso.yaml:3:30 unknown setting pirce; did you mean price?"],
  ]);
});
