import { expect, it } from "vitest";
import type { Job } from "../../contract/operation.ts";
import { createResultSlots } from "./result-slots.ts";

type SlotRequest = Parameters<typeof createResultSlots>[0][number];
const first = (index: number, count: number): SlotRequest => ({
  ...{ requestIndex: index * 100, jobIndex: 0, job: { count } },
});
const second = (sourceSlot: number): SlotRequest => ({
  ...{ requestIndex: 1 + sourceSlot * 100, jobIndex: 1, sourceSlot },
  job: { images: [{ job: 0, each: true }] } as Job,
});
const requests = [first(0, 2), first(1, 2), ...[0, 1, 2, 3].map(second)];

it("a request of the later job gets the file of its slot, counted among the produced files", () => {
  const slots = createResultSlots(requests);
  slots.fill(requests[0]!, 1);
  slots.fill(requests[1]!, 2);
  expect(
    requests
      .slice(2)
      .flatMap(slots.assignSource)
      .map(({ sourceSlot, sourceIndex }) => [sourceSlot, sourceIndex]),
  ).toEqual([
    [0, 0],
    [2, 1],
    [3, 2],
  ]);
});

it("a result that is produced later does not move the slots of others", () => {
  const slots = createResultSlots(requests);
  slots.fill(requests[1]!, 1);
  expect(slots.assignSource(second(2))).toMatchObject([{ sourceIndex: 0 }]);
  slots.fill(requests[0]!, 2);
  expect(slots.assignSource(second(2))).toMatchObject([{ sourceIndex: 2 }]);
});

it("a request without such a source is kept as it is", () => {
  expect(createResultSlots(requests).assignSource(requests[0]!)).toEqual([requests[0]]);
});
