import { ValidationError } from "@gesso/client";
import { expect, it } from "vitest";
import {
  errorsWithin,
  fieldErrorsOf,
  firstInvalidField,
  groupFieldErrors,
  parsePointer,
  withoutChanged,
} from "./field-errors.ts";

const error = (path: string) => ({ path, code: "required", message: "This field is required." });

it("reads JSON pointers with escaped characters", () => {
  expect(parsePointer("/images/0/tag")).toEqual(["images", "0", "tag"]);
  expect(parsePointer("/metadata/a~1b~0c")).toEqual(["metadata", "a/b~c"]);
});

it("groups all errors of a request by field", () => {
  const errors = groupFieldErrors([error("/width"), error("/images/0/tag"), error("/images/1/tag")]);
  expect([...errors.keys()]).toEqual(["width", "images"]);
  expect(errors.get("images")).toHaveLength(2);
});

it("finds the errors of one item of a list", () => {
  const errors = [error("/images/0/tag"), error("/images/1/tag")];
  expect(errorsWithin(errors, "1")).toEqual([error("/1/tag")]);
  expect(errorsWithin(errorsWithin(errors, "1"), "tag")).toEqual([error("/tag")]);
});

it("finds the first field with an error in the order of the form", () => {
  const thrown = new ValidationError("invalid", { details: { errors: [error("/width"), error("/prompt")] } });
  expect(firstInvalidField(fieldErrorsOf(thrown), ["prompt", "width"])).toBe("prompt");
  expect(fieldErrorsOf(new Error("other")).size).toBe(0);
});

it("drops the error of a field as soon as the field changes", () => {
  const errors = groupFieldErrors([
    { path: "/width", message: "too large" },
    { path: "/seed", message: "not a number" },
  ] as never);
  expect([...withoutChanged(errors, { width: 1 }, { width: 2 }).keys()]).toEqual(["seed"]);
});
