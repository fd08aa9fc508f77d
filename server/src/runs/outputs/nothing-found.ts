// What happens if a job looks for objects and finds none. A job for every found object has nothing to do and is
// skipped, so its run completes without results. A run that needs an object ends with one code, whatever the provider.

import type { Job, Source, Task } from "../../contract/operation.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import { Fault } from "../../faults/faults.ts";

/** Whether a job of the task may end without results: it found none of what it was asked for. */
export const findsObjects = (task: Task | undefined): boolean => task === "image.segment";

export const nothingFound = () => new Fault("provider_rejected_input", { reason: "nothing_found" });

const isEveryResultOf = (jobIndex: number) => (source: Source) =>
  "job" in source && source.every === true && source.job === jobIndex;

/** Whether every mask of the job is a result of an earlier job that has none. */
export const hasNoMasks = ({ masks = [] }: Job, filesByJob: StoredAsset[][]): boolean =>
  masks.length > 0 && masks.every((mask) => "job" in mask && mask.every && filesByJob[mask.job]?.length === 0);

/** Whether the run can complete although this job found nothing: another job works on every result. */
export const canBeEmpty = (plan: { job: Job }[], jobIndex: number): boolean =>
  plan.some(({ job }) => job.masks?.some(isEveryResultOf(jobIndex)));
