// Runs the samples of the first half of the pages, and checks the conventions and every link of all of them.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { anchorsOf } from "./markdown-samples.ts";
import { isRunning, list, parsed, ROOT, read, testSamples } from "./page-samples.ts";

testSamples((path) => path < "docs/guide/p");

it("follows the convention for samples", () => {
  const problems = parsed.flatMap(({ path, problems }) => problems.map((problem) => `${path}, ${problem}`));
  expect(problems).toEqual([]);
});

it("has a running sample on every page, except on those that state why not", () => {
  const silent = parsed.filter(({ samples }) => !samples.some(isRunning));
  expect(silent.filter((page) => !page.withoutSamplesReason).map(({ path }) => path)).toEqual([]);
  const stale = parsed.filter((page) => page.withoutSamplesReason && page.samples.some(isRunning));
  expect(stale.map(({ path }) => path)).toEqual([]);
});

it("runs at least 15 samples of the client's page", () => {
  const { samples } = parsed.find(({ path }) => path === "sdk/README.md")!;
  expect(samples.filter(isRunning).length).toBeGreaterThanOrEqual(15);
});

it("lists every page in docs/README.md", () => {
  const index = read("docs/README.md");
  const pages = list("docs/{guide,reference}/**/*.md").map((path) => path.slice("docs/".length));
  expect(pages.filter((path) => !index.includes(`](${path})`))).toEqual([]);
});

it("links only to files and headings that exist", () => {
  const pages = [...list("*.md"), ...list("{docs,sdk,python,cli,sandbox,examples,.github}/**/*.md")].filter(
    (path) => !path.includes("node_modules/") && !path.includes("/dist/") && !path.includes(".gesso/"),
  );
  expect(pages.length).toBeGreaterThan(40);
  const broken = pages.flatMap((page) => {
    const text = read(page)
      .replaceAll(/^```[\s\S]*?^```$/gm, "")
      .replaceAll(/`[^`\n]*`/g, "");
    const links = [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g)];
    return links.flatMap(([link, path, anchor]) => {
      const target = path ? join(dirname(page), path) : page;
      if (!existsSync(join(ROOT, target))) return [`${page}: ${link}`];
      if (!anchor || !target.endsWith(".md")) return [];
      return anchorsOf(read(target)).has(anchor) ? [] : [`${page}: ${link}`];
    });
  });
  expect(broken).toEqual([]);
});
