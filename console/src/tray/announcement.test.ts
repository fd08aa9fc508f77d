import { expect, it } from "vitest";
import { announcementOf } from "./announcement.ts";
import type { TrayRun } from "./tray-runs.ts";

const run = (run_id: string, status: string) => ({ run_id, status, prompt: `prompt ${run_id}` }) as TrayRun;

it("announces only runs whose state changed", () => {
  const announced = new Map([
    ["a", "processing"],
    ["b", "processing"],
  ]);
  expect(announcementOf([run("a", "processing"), run("b", "processing")], announced)).toBeUndefined();
  expect(announcementOf([run("a", "completed"), run("b", "processing")], announced)).toBe("prompt a: Completed");
});
