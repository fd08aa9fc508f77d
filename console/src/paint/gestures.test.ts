import { expect, it, vi } from "vitest";
import { createGestures, type PointerSample } from "./gestures.ts";

const sample = (id: number, x: number, changes: Partial<PointerSample> = {}): PointerSample => ({
  ...{ id, x, y: 0, kind: "touch", pressure: 1, isMove: false },
  ...changes,
});

function createTarget() {
  return {
    startStroke: vi.fn(),
    continueStroke: vi.fn(),
    endStroke: vi.fn(),
    cancelStroke: vi.fn(),
    moveBy: vi.fn(),
    pinch: vi.fn(),
  };
}

it("paints with one pointer and passes all coalesced positions on", () => {
  const target = createTarget();
  const gestures = createGestures(target);
  gestures.down(sample(1, 0));
  gestures.move([sample(1, 1), sample(1, 2), sample(1, 3)]);
  gestures.up(1);
  expect(target.continueStroke.mock.calls[0]?.[0]).toHaveLength(3);
  expect(target.endStroke).toHaveBeenCalledOnce();
  expect(target.cancelStroke).not.toHaveBeenCalled();
});

it("takes the stroke back when a second finger comes, and paints nothing until both are up", () => {
  const target = createTarget();
  const gestures = createGestures(target);
  gestures.down(sample(1, 0));
  gestures.down(sample(2, 100));
  expect(target.cancelStroke).toHaveBeenCalledOnce();
  gestures.move([sample(2, 200)]);
  expect(target.pinch).toHaveBeenCalledWith(
    [
      { x: 0, y: 0 },
      { x: 100, y: 0 },
    ],
    [
      { x: 0, y: 0 },
      { x: 200, y: 0 },
    ],
  );
  gestures.up(1);
  gestures.move([sample(2, 250)]);
  gestures.up(2);
  expect(target.startStroke).toHaveBeenCalledOnce();
  expect(target.endStroke).not.toHaveBeenCalled();
  gestures.down(sample(3, 0));
  expect(target.startStroke).toHaveBeenCalledTimes(2);
});

it("moves the view while a key is held or with the middle button", () => {
  const target = createTarget();
  const gestures = createGestures(target);
  gestures.down(sample(1, 10, { kind: "mouse", isMove: true }));
  gestures.move([sample(1, 25, { kind: "mouse" })]);
  gestures.up(1);
  expect(target.moveBy).toHaveBeenCalledWith({ x: 15, y: 0 });
  expect(target.startStroke).not.toHaveBeenCalled();
});

it("takes a stroke back that the system interrupts", () => {
  const target = createTarget();
  const gestures = createGestures(target);
  gestures.down(sample(1, 0));
  gestures.cancel(1);
  expect(target.cancelStroke).toHaveBeenCalledOnce();
  expect(target.endStroke).not.toHaveBeenCalled();
});
