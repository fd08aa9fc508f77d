import { expect, test } from "vitest";
import { findFiles, type MediaField, replaceAt } from "./pinned-model.ts";

const fields = (...pointers: string[]): MediaField[] => pointers.map((pointer) => ({ pointer, kind: "image" }));
const pathsOf = (root: unknown, ...pointers: string[]) => findFiles(root, fields(...pointers)).map(({ path }) => path);

test("files are found in the order of the fields, in lists and in maps", () => {
  const input = { prompt: "a", last: "z", images: ["a", "b"], elements: { x: { urls: ["c"] }, y: {} } };
  expect(pathsOf(input, "/last", "/images/*", "/elements/*/urls/*", "/absent")).toEqual([
    ["last"],
    ["images", 0],
    ["images", 1],
    ["elements", "x", "urls", 0],
  ]);
});

test("a file is a text that is not empty or a reference to a run", () => {
  const input = { a: "", b: null, c: 5, d: { run_id: "1", output: 2 }, e: { url: "x" }, f: ["x"], g: undefined };
  const found = findFiles(input, fields("/a", "/b", "/c", "/d", "/e", "/f", "/g"));
  expect(found).toEqual([{ path: ["d"], value: { run_id: "1", output: 2 }, kind: "image" }]);
});

test("a field in two forms of an object is one file", () => {
  expect(pathsOf({ a: { b: "x" } }, "/a/*", "/a/b")).toEqual([["a", "b"]]);
});

test("the ID of a reference is no file where a list was expected", () => {
  expect(pathsOf({ images: { run_id: "1" } }, "/images/*")).toEqual([]);
});

test("a result that is a text or a list has files, too", () => {
  expect(pathsOf("https://a", "")).toEqual([[]]);
  expect(pathsOf(["https://a", "https://b"], "/*")).toEqual([[0], [1]]);
});

test("names in pointers can have slashes and tildes", () => {
  expect(pathsOf({ "a/b~c": "x" }, "/a~1b~0c")).toEqual([["a/b~c"]]);
});

test("members of every object are no fields of an input", () => {
  expect(pathsOf({}, "/constructor/name", "/__proto__", "/toString/name", "/*")).toEqual([]);
  expect(pathsOf([], "/length", "/constructor/name")).toEqual([]);
});

test("a value is replaced in a copy", () => {
  const input = { prompt: "a", images: [{ url: "x" }, { url: "y" }] };
  expect(replaceAt(input, ["images", 1, "url"], "new")).toEqual({
    prompt: "a",
    images: [{ url: "x" }, { url: "new" }],
  });
  expect(input.images[1]).toEqual({ url: "y" });
});

test("a path that is not there changes nothing", () => {
  const input = { a: ["x"], b: "text" };
  for (const path of [["c"], ["a", 5], ["a", "0"], ["b", 0], ["constructor", "prototype", "polluted"]]) {
    expect(replaceAt(input, path, "new")).toEqual(input);
  }
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test("a field with the name __proto__ stays a field and sets no prototype", () => {
  const input = JSON.parse('{"__proto__": {"url": "x", "polluted": true}}');
  const [file] = findFiles(input, fields("/__proto__/url"));
  expect(file?.path).toEqual(["__proto__", "url"]);
  const replaced = replaceAt(input, file!.path, "new");
  expect(JSON.stringify(replaced)).toBe('{"__proto__":{"url":"new","polluted":true}}');
  expect(Object.getPrototypeOf(replaced)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
