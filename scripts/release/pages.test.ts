import { existsSync, globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const REPOSITORY = "https://github.com/gesso-run/gesso";

it.each(globSync("scripts/release/pages/*.md"))("%s has absolute links alone, to files that exist", (path) => {
  const links = [...readFileSync(path, "utf8").matchAll(/\]\(([^)]+)\)|<img[^>]*src="([^"]+)"/g)].map(
    ([, link, image]) => link ?? image ?? "",
  );
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) {
    expect(link).toMatch(/^https:\/\//);
    const [, file] = new RegExp(`^${REPOSITORY}/blob/main/([^#]+)`).exec(link) ?? [];
    if (link.startsWith(`${REPOSITORY}/`)) expect(file !== undefined && existsSync(file), link).toBe(true);
  }
});
