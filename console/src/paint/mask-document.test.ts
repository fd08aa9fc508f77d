import { expect, it } from "vitest";
import { fillRectangle } from "./mask.ts";
import { addRectangle, clearMask, invertWholeMask } from "./mask-actions.ts";
import { createMaskDocument } from "./mask-document.ts";

const SIZE = { width: 100, height: 80 };
const pixel = (index: number) => ({ x: index, y: 0, width: 1, height: 1 });

it("takes 50 changes back and makes them again", () => {
  const document = createMaskDocument(SIZE);
  for (let index = 0; index < 60; index++) addRectangle(document, pixel(index));
  const full = document.mask.values.slice();
  for (let index = 0; index < 50; index++) document.undo();
  expect(document.state()).toMatchObject({ canUndo: false, canRedo: true, markedPixels: 10 });
  document.undo();
  expect(document.state().markedPixels).toBe(10);
  for (let index = 0; index < 50; index++) document.redo();
  expect(document.mask.values).toEqual(full);
});

it("forgets what was undone after a new change", () => {
  const document = createMaskDocument(SIZE);
  addRectangle(document, pixel(1));
  document.undo();
  addRectangle(document, pixel(2));
  expect(document.state()).toMatchObject({ canRedo: false, markedPixels: 1 });
});

it("makes one step of a stroke, whatever number of parts it has", () => {
  const document = createMaskDocument(SIZE);
  const areas: unknown[] = [];
  document.subscribePixels((area) => areas.push(area));
  document.begin();
  for (let index = 0; index < 5; index++) {
    fillRectangle(document.mask, pixel(index), 255);
    document.touch(pixel(index));
  }
  document.commit();
  expect(areas).toHaveLength(5);
  expect(document.state()).toMatchObject({ revision: 1, markedPixels: 5 });
  document.undo();
  expect(document.state()).toMatchObject({ markedPixels: 0, canUndo: false });
});

it("takes an unfinished stroke back without a step", () => {
  const document = createMaskDocument(SIZE);
  addRectangle(document, pixel(3));
  document.begin();
  fillRectangle(document.mask, pixel(4), 255);
  document.touch(pixel(4));
  document.revert();
  expect(document.state().revision).toBe(1);
  expect([...document.mask.values.subarray(0, 6)]).toEqual([0, 0, 0, 255, 0, 0]);
});

it("inverts and clears as one step each", () => {
  const document = createMaskDocument(SIZE);
  invertWholeMask(document);
  expect(document.state().share).toBe(1);
  clearMask(document);
  expect(document.state()).toMatchObject({ isEmpty: true, revision: 2 });
  clearMask(document);
  expect(document.state().revision).toBe(2);
  document.undo();
  expect(document.state().share).toBe(1);
});
