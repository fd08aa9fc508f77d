// Fills an installation as a small studio would have used it: images of several models and shapes, edits of
// one image as a tree, stars, keys, and a webhook. Prices are set, so that money is visible.
import pg from "pg";
import { createApiRequests } from "../showcase/api-requests.ts";

/** The price list of the pictures, as an operator writes it in `gesso.yaml`. */
export const PRICES = `models:
${[
  ["flux-dev", 0.025],
  ["gemini-2.5", 0.039],
  ["vendora", 0.042],
  ["nanobanana", 0.039],
  ["flux-kontext-max", 0.08],
  ["vendorb-imagen4", 0.04],
  ["upscale-default", 0.01],
  ["remove-default", 0.02],
  ["segment-default", 0.005],
  ["photon-1", 0.015],
]
  .map(([model, price]) => `  ${model}:\n    - provider: sandbox\n      price: ${price}\n      per: image\n`)
  .join("")}`;

const SHAPES = [
  { width: 960, height: 640 },
  { width: 768, height: 768 },
  { width: 640, height: 960 },
  { width: 1024, height: 576 },
];
const PROMPTS = [
  "a lighthouse above the sea at dusk",
  "a red fox in a snowy forest",
  "bauhaus geometric pattern",
  "a city at night in the rain",
  "a sailing boat on a calm sea at dawn",
  "a bicycle in front of a white wall",
  "a mountain lake in the morning",
  "a robot holding a flower",
  "an astronaut under the stars",
  "a bowl of fruit, painted in oil",
  "a tree on a hill in autumn",
  "a cat on a windowsill, watercolour",
  "a house in a meadow, sunny",
  "a flock of birds over the desert",
  "a cup of coffee on a wooden table",
  "a hot air balloon over green hills",
];
const MODELS = ["flux-dev", "gemini-2.5", "vendora", "nanobanana"];

const TENANT_ID = "00000000-0000-7000-8000-000000000001";
/** With their limits of a month, in US dollars. */
const KEYS = [
  { name: "Shop website", limit: 20 },
  { name: "Newsletter", limit: 6 },
  { name: "Nightly previews", limit: 3 },
];

export type Seeded = {
  /** The first run of the tree, and the edit by mask. */
  root: string;
  masked: string;
  /** A run with four images. */
  batch: string;
};

export async function seed(gesso: { url: string; key: string; databaseUrl: string }): Promise<Seeded> {
  const { requestJson, run } = createApiRequests(gesso);
  const keys: { id: string }[] = [];
  for (const { name } of KEYS) {
    keys.push(await requestJson("POST", "/keys", { name, scopes: ["images:write", "runs:read"] }));
  }
  await insertPastRuns(
    gesso.databaseUrl,
    keys.map(({ id }) => id),
  );
  // Limits count the runs that exist when they are set.
  await requestJson("PATCH", `/tenants/${TENANT_ID}`, { name: "Northlight", limits: { spend_per_month: 30 } });
  for (const [index, { limit }] of KEYS.entries()) {
    await requestJson("PATCH", `/keys/${keys[index]?.id}`, { limits: { spend_per_month: limit } });
  }
  const tree = await seedTree({ run });
  const finished = [];
  for (const [index, prompt] of PROMPTS.entries()) {
    const model_type = MODELS[index % MODELS.length];
    finished.push(
      await run("/runs/generate", { prompt, model_type, seed: index + 3, ...SHAPES[index % SHAPES.length] }),
    );
  }
  for (const { run_id } of finished.slice(3, 6)) await requestJson("PATCH", `/runs/${run_id}`, { starred: true });
  const ribbons = { prompt: "silk ribbons, flowing coral and teal", width: 768, height: 768 };
  for (const [seed, model_type] of MODELS.entries()) await run("/runs/generate", { ...ribbons, model_type, seed });
  const batch = await run("/runs/generate", {
    prompt: "a lighthouse above the sea at dusk with gulls",
    ...{ model_type: "flux-dev", width: 1152, height: 768, seed: 3, batch_size: 4 },
  });
  return { ...tree, batch: batch.run_id };
}

async function seedTree({ run }: Pick<ReturnType<typeof createApiRequests>, "run">) {
  const root = await run("/runs/generate", {
    prompt: "a red hot air balloon over green hills, morning light",
    ...{ model_type: "flux-dev", width: 1024, height: 768, seed: 7 },
  });
  const mask = await run("/edits/extract", { run_id: root.run_id, prompt: "the balloon", mode: "mask" });
  const masked = await run("/edits/vendora", { run_id: root.run_id, mask_url: mask.run_id, prompt: "make it blue" });
  const winter = await run("/edits/vendora", { run_id: root.run_id, prompt: "make it winter, with snow" });
  await run("/edits/gemini-2.5", { run_id: winter.run_id, prompt: "make it night, with stars" });
  await run("/edits/reframe", { run_id: masked.run_id, aspect_ratio: "16:9" });
  await run("/edits/upscale", { run_id: masked.run_id });
  return { root: root.run_id, masked: masked.run_id };
}

/** Runs of the month before, whose files have expired: fewer on weekends, and more of the preferred models. */
async function insertPastRuns(databaseUrl: string, keyIds: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `with times as (
        select day, number, now() - make_interval(days => day, mins => number * 7) as at
        from generate_series(1, 45) as day,
          generate_series(1, case when extract(isodow from now() - make_interval(days => day)) > 5
            then 6 + day % 4 else 26 + day * 7 % 17 end) as number
      ), runs_to_insert as (
        select at, (left(uuid_floor(at)::text, 15) || substr(gen_random_uuid()::text, 16))::uuid as id,
          (array['flux-dev', 'vendora', 'gemini-2.5', 'flux-dev', 'nanobanana', 'flux-dev', 'vendora'])[1 + (number + day) % 7]
            as model,
          ($1::uuid[])[case when number % 9 < 6 then 1 when number % 9 < 8 then 2 else 3 end] as key_id
        from times
      )
      insert into runs (run_id, tenant_id, user_id, key_id, operation, run_type, status, progress, root_run_id, inputs, plan, model,
        provider, result, cost, created_at, started_at, finished_at, deleted_at)
      select id, '${TENANT_ID}', 'owner', key_id, 'images.generate', 'image-generation', 'completed', 1, id,
        '{}', '[]', model, 'sandbox', '{"outputs": []}', jsonb_build_object('currency', 'USD', 'amount',
          case model when 'flux-dev' then 0.025 when 'vendora' then 0.042 else 0.039 end), at, at, at, at
      from runs_to_insert`,
      [keyIds],
    );
  } finally {
    await client.end();
  }
}
