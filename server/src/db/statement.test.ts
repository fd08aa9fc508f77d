// Named parameters: how they are found in a statement's text, numbered and bound.
import { describe, expect, it } from "vitest";
import { bindParameters, statement } from "./statement.ts";

/** The name is not one of the generated ones, because this text is never prepared. */
const compile = (name: string, text: string) => statement(`test.${name}` as never, text);

describe("a named parameter", () => {
  it("has one number, however often it occurs", () => {
    const { text, parameterNames } = compile("twice", "select :b, :a, :b");
    expect(text).toBe("select $1, $2, $1");
    expect(parameterNames).toEqual(["b", "a"]);
  });

  it("is bound by name, in any order, and a value of another name is not sent", () => {
    const compiled = compile("bind", "select :first, :second");
    expect(bindParameters(compiled, { second: 2, third: 3, first: 1 })).toEqual([1, 2]);
  });

  it("may be null where it is marked", () => {
    const { text, nullableNames } = compile("nullable", "select :a?::text is null, :b");
    expect(text).toBe("select $1::text is null, $2");
    expect([...nullableNames]).toEqual(["a"]);
  });

  it("is not a cast, part of a string, of a quoted identifier or of a comment", () => {
    const skipped = `select now()::date, 'it''s :a', ":b" -- isn't :c\n`;
    expect(compile("skipped", `${skipped}, :d`)).toMatchObject({ text: `${skipped}, $1`, parameterNames: ["d"] });
  });
});

it("refuses a second statement with the same name", () => {
  compile("same", "select 1");
  expect(() => compile("same", "select 2")).toThrow("two statements are named test.same");
});
