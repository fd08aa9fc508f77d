// The first step: the run is under way, and it is decided who does its jobs.
import { beginRun, type Held } from "../db/open-runs.ts";
import { chooseOffer } from "./choose.ts";
import type { Begun } from "./execute.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";

/** Null when the run has ended meanwhile or belongs to a later epoch. */
export async function begin(house: House, held: Held): Promise<Begun | null> {
  const begun = await beginRun(house.db, held, idWithin(held.run_id, "run.processing"));
  if (!begun) return null;
  house.moment("begun");
  return {
    jobs: begun.plan.map((job, n) => {
      const made = begun.made[n];
      return { job, choice: chooseOffer(house, job), ...(made && { made }) };
    }),
  };
}
