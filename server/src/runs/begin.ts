// The first step: the run is under way, and it is decided who does its jobs, and in how many requests.
import { beginRun, type Held } from "../db/open-runs.ts";
import type { Job } from "../kit/operation.ts";
import { chooseOffer, chosen } from "./choose.ts";
import { checkModels } from "./custom-models.ts";
import type { Begun } from "./execute.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";

/** Null when the run has ended meanwhile or belongs to a later epoch. */
export async function begin(house: House, held: Held): Promise<Begun | null> {
  const begun = await beginRun(house.db, held, idWithin(held.run_id, "run.processing"));
  if (!begun) return null;
  house.moment("begun");
  await checkModels(house, begun);
  const jobs = begun.plan.flatMap((job, planned) =>
    partsOf(house, job).map(({ part, choice }, index) => {
      const n = planned + PART * index;
      const before = begun.made[n];
      if (!before) return { n, planned, job: part, choice };
      const { provider, upstream, ...made } = before;
      return { n, planned, job: part, choice, made: { ...made, choice: { provider, as: upstream } } };
    }),
  );
  return { jobs };
}

/** Numbers of further parts start above any number of planned jobs. */
const PART = 100;

/** One request makes only so many results; each part has a seed of its own, or all would be the same picture. */
function partsOf(house: House, job: Job) {
  const choice = chooseOffer(house, job);
  const count = job.count ?? 1;
  const most = chosen(house, choice, job).offer.limits?.count ?? count;
  if (count <= most) return [{ part: job, choice }];
  return Array.from({ length: Math.ceil(count / most) }, (_, index) => ({
    part: {
      ...job,
      count: Math.min(most, count - index * most),
      ...(job.seed !== undefined && { seed: (job.seed + index * most) % SEEDS }),
    },
    choice,
  }));
}

const SEEDS = 2 ** 32;
