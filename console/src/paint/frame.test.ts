import { expect, it } from "vitest";
import { edgesOfFrame, frameOfValues, moveFrame, parseRatio, withoutEdges } from "./frame.ts";

const IMAGE = { width: 1000, height: 1000 };

it("puts the image in the middle of the smallest frame of the ratio", () => {
  expect(frameOfValues(IMAGE, { aspect_ratio: "16:9" })).toEqual({ x: -389, y: 0, width: 1778, height: 1000 });
  expect(frameOfValues(IMAGE, { aspect_ratio: "1:2" })).toEqual({ x: 0, y: -500, width: 1000, height: 2000 });
  expect(frameOfValues(IMAGE, {})).toBeUndefined();
  expect(parseRatio("wide")).toBeUndefined();
});

it("moves the frame only as far as the image stays inside", () => {
  const frame = { x: -389, y: 0, width: 1778, height: 1000 };
  expect(moveFrame(IMAGE, frame, { x: 100, y: 50 })).toEqual({ ...frame, x: -289 });
  expect(moveFrame(IMAGE, frame, { x: -5000, y: 0 }).x).toBe(-778);
});

it("reads the edges back that it has written", () => {
  const frame = { x: -289, y: 0, width: 1778, height: 1000 };
  const values = { aspect_ratio: "16:9", ...edgesOfFrame(frame) };
  expect(frameOfValues(IMAGE, values)).toEqual(frame);
  expect(withoutEdges(values)).toEqual({ aspect_ratio: "16:9" });
});
