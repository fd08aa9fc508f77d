import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { targetPaths } from "./save-outputs.ts";

const run = { run_id: "r1" };

it("names files by the pattern, the number and the media type", () => {
  expect(targetPaths("a.png", run, [".png"])).toEqual(["a.png"]);
  expect(targetPaths("out/%id.png", run, [".png", ".png"])).toEqual(["out/r1.png", "out/r1-2.png"]);
  expect(targetPaths("%id-%n.png", run, [".png", ".png"])).toEqual(["r1-1.png", "r1-2.png"]);
  expect(targetPaths("a", run, [".jpg", ".mp4"])).toEqual(["a.jpg", "a-2.mp4"]);
  expect(targetPaths(tmpdir(), run, [".webp"])).toEqual([join(tmpdir(), "r1.webp")]);
});
