import { expect, it } from "vitest";
import { z } from "zod";
import { describeZodIssue } from "./issue-messages.ts";

const messageOf = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value, { error: describeZodIssue }).error?.issues[0]?.message;

it.each([
  ["a string", z.string(), 1, "Must be a string."],
  ["an integer", z.int(), 1.5, "Must be an integer."],
  ["a boolean", z.boolean(), "yes", "Must be true or false."],
  ["an array", z.array(z.string()), "a", "Must be an array."],
  ["an object", z.object({}), "a", "Must be an object."],
  ["a minimum", z.int().min(64), 1, "Must be at least 64."],
  ["a maximum", z.number().max(2), 3, "Must be at most 2."],
  ["an exclusive minimum", z.number().gt(0), 0, "Must be more than 0."],
  ["an exclusive maximum", z.number().lt(1), 1, "Must be less than 1."],
  ["few items", z.array(z.string()).min(2), [], "Must have at least 2 items."],
  ["many items", z.array(z.string()).max(1), ["a", "b"], "Must have at most 1 item."],
  ["a long string", z.string().max(2), "abc", "Must have at most 2 characters."],
  ["an enum", z.enum(["a", "b"]), "c", "Must be one of a, b."],
  ["a literal", z.literal("a"), "c", "Must be a."],
  ["a UUID", z.uuid(), "a", "Must be a UUID."],
  ["a timestamp", z.iso.datetime(), "a", "Must be a timestamp in ISO 8601, such as 2026-01-31T12:00:00Z."],
])("%s", (_, schema, value, message) => expect(messageOf(schema, value)).toBe(message));

it("leaves the schema's own message unchanged", () => {
  expect(messageOf(z.string().regex(/a/, { error: "Must contain an a." }), "b")).toBe("Must contain an a.");
});
