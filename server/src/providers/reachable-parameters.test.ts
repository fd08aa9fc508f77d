// Every parameter that an offer says it honours can be asked for: some request body that names the offer's model plans
// a job that the offer can do and that has the parameter. parameter-matrix.test.ts goes from the job to what the
// provider receives.
import { expect, it } from "vitest";
import { listModelChoices, sampleFields } from "../../test/support/operation-inputs.ts";
import { modelIds } from "../contract/models.ts";
import type { Job, Operation } from "../contract/operation.ts";
import { parseInput } from "../contract/parse.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import { listJobParameters, TASK_PARAMETERS, withJobParameter } from "../contract/task-parameters.ts";
import { runOperations, unlistedOperations } from "../operations/all-runs.ts";
import { canServe } from "./adjust-parameters.ts";
import { providers } from "./all.ts";
import { supportOf } from "./parameter-support.ts";
import type { Offer, Provider } from "./provider.ts";
import { describeModels, findOffers } from "./resolve-model.ts";

const IMAGE = "https://example.com/a.png";
const RUN = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

/** What some models or fields need besides: a source, a size, a custom model. */
const COMPANIONS: JsonObject[] = [
  {},
  { reference_image_url: IMAGE },
  { image_urls: [IMAGE, IMAGE] },
  { image_url: IMAGE },
  { image: IMAGE },
  { image: IMAGE, mask: IMAGE },
  { reference_image_url: IMAGE, mask_url: IMAGE },
  { x_start: 0, y_start: 0, x_end: 640, y_end: 640 },
];
const REQUIRED_BY_MODELS = {
  ...{ aspect_ratio: "16:9", model_id: RUN, width: 512, height: 512 },
  ...{ lora_low_name: "low", lora_high_name: "high" },
};

const omit = (fields: JsonObject, left: string | undefined): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name !== left));

/** Request bodies with one field at a time, and without one field of the example, for every known name of a model. */
function listBodies(operation: Operation): JsonObject[] {
  const names = Object.keys(operation.input.shape);
  const pick = (fields: JsonObject) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
  const example: JsonObject = { ...operation.example, ...operation.fixedValues };
  const fields = [{}, ...sampleFields(operation).map(({ name, sample }) => ({ [name]: sample as string }))];
  return [{}, ...listModelChoices(operation)].flatMap((choice) =>
    [undefined, ...Object.keys(example)].flatMap((left) =>
      [{}, ...(operation.modelField === undefined ? [] : [pick(REQUIRED_BY_MODELS)])].flatMap((required) =>
        [...new Map(COMPANIONS.map(pick).map((companion) => [JSON.stringify(companion), companion])).values()].flatMap(
          (companion) =>
            fields.map((field) => ({ ...omit(example, left), ...required, ...companion, ...choice, ...field })),
        ),
      ),
    ),
  );
}

type Planned = { operation: Operation; input: JsonObject; provided: JsonObject };

/** Bodies that the operation accepts, as HTTP would give them. */
const accepted: Planned[] = [...runOperations, ...unlistedOperations]
  .filter(({ plan }) => plan !== undefined)
  .flatMap((operation) =>
    listBodies(operation).flatMap((body) => {
      try {
        return [{ operation, ...parseInput(operation, body) }];
      } catch {
        return [];
      }
    }),
  );

const cellOf = (offer: Offer, name: string) => `${offer.task} ${offer.model} ${offer.upstreamModel}: ${name}`;

/** The cells of the provider that a request reaches, if the installation has this provider and the local one. */
function listReached(provider: Provider): Set<string> {
  const own = provider.id === "local" ? providers : [provider, ...providers.filter(({ id }) => id === "local")];
  const enabled = own.map((each) => ({ provider: each, env: {} }));
  const models = describeModels(enabled);
  const reached = new Set<string>();
  const see = (job: Job) => {
    // What an offer leaves to a second job is no part of its own one (runs/accept/expand-plan.ts).
    const bare = withJobParameter(job, "upscale_factor", undefined);
    for (const { enabledProvider, offer } of findOffers(enabled, job)) {
      const isOwn = enabledProvider.provider === provider;
      const { isSecondJob } = supportOf(offer, "upscale_factor");
      if (isOwn && canServe(offer, isSecondJob ? bare : job))
        for (const name of listJobParameters(job)) reached.add(cellOf(offer, name));
    }
  };
  for (const { operation, input, provided } of accepted) operation.plan!(input, provided, models).forEach(see);
  return reached;
}

it.each(providers.map((provider) => [provider.id, provider] as const))(
  "%s: a request reaches every parameter that an offer says it honours",
  (_, provider) => {
    const reached = listReached(provider);
    const claimed = provider.offers
      .filter(({ lifecycle }) => lifecycle?.state !== "retired")
      .flatMap((offer) =>
        TASK_PARAMETERS[offer.task]
          .filter((name) => supportOf(offer, name).state !== "unsupported")
          .map((name) => cellOf(offer, name)),
      );
    expect(claimed.filter((cell) => !reached.has(cell))).toEqual([]);
  },
);

it("bodies were accepted for every known model", () => {
  const named = new Set(accepted.map(({ input }) => input.model_type));
  expect([...named]).toEqual(expect.arrayContaining([...modelIds]));
});
