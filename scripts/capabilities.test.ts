import { expect, it } from "vitest";
import { listCapabilityTypes } from "./capabilities.ts";

it("counts own members, the picked members of another type, and each joined type once", () => {
  const text = `import type { Clock } from "./clock.ts";
export type SendDependencies = Runtime &
  Omit<Store, "close"> &
  Pick<Services, "random" | "ids"> & {
    /** Not a member; nor is this. */
    clock: Pick<Clock, "now" | "after">;
    find(id: string): Promise<{ a: string; b: string }>;
    onEnd: () => void;
  };
type HttpServices = { a: A; b: B };
type Row = { a: string; b: string; c: string };
`;
  expect(listCapabilityTypes({ text })).toEqual([
    { name: "SendDependencies", line: 2, members: 7 },
    { name: "HttpServices", line: 10, members: 2 },
  ]);
});
