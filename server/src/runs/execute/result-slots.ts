// Places for the results of each job, as many as the plan expects. A job that works on each file of an earlier one
// refers to its slots: a result that is missing leaves its slot empty and moves no other, also when a later invocation
// of the run produces it after all. So a stored result of the later job always belongs to the same file.
import type { Job } from "../../contract/operation.ts";

/** `sourceSlot`: the slot of the earlier job whose file this request works on. */
type SlotRequest = {
  requestIndex: number;
  jobIndex: number;
  job: Pick<Job, "count" | "images">;
  sourceSlot?: number;
};
/** `sourceIndex`: the position of the request's file among the produced files of the earlier job. */
export type Sourced<Request> = Request & { sourceIndex?: number };

export function createResultSlots<Request extends SlotRequest>(requests: Request[]) {
  const filled = new Map<number, Set<number>>();
  const isFilled = (jobIndex: number, slot: number) => filled.get(jobIndex)?.has(slot) ?? false;

  const firstSlotOf = ({ jobIndex, requestIndex }: SlotRequest): number => {
    const ofJob = requests.filter((request) => request.jobIndex === jobIndex);
    const before = ofJob.slice(
      0,
      ofJob.findIndex((request) => request.requestIndex === requestIndex),
    );
    return before.reduce((slots, { job }) => slots + (job.count ?? 1), 0);
  };

  return {
    /** Records that the request produced so many files. */
    fill(request: SlotRequest, fileCount: number): void {
      const slots = filled.get(request.jobIndex) ?? new Set();
      const first = firstSlotOf(request);
      for (let index = 0; index < fileCount; index++) slots.add(first + index);
      filled.set(request.jobIndex, slots);
    },

    /** The request with its file, or nothing if the earlier job did not produce that file. */
    assignSource(request: Request): Sourced<Request>[] {
      const { sourceSlot, job } = request;
      if (sourceSlot === undefined) return [request];
      const source = job.images?.find((image) => "job" in image && image.each);
      if (!source || !("job" in source) || !isFilled(source.job, sourceSlot)) return [];
      const before = Array.from({ length: sourceSlot }, (_, slot) => isFilled(source.job, slot));
      return [{ ...request, sourceIndex: before.filter(Boolean).length }];
    },
  };
}
