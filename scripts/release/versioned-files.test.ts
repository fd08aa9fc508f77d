import { expect, it } from "vitest";
import { findDifferingVersions, setVersion } from "./versioned-files.ts";

const LOCK = JSON.stringify({
  version: "0.1.0",
  packages: { "": { version: "0.1.0" }, server: { version: "0.1.0" }, "node_modules/pg": { version: "8.0.0" } },
});

it("sets the workspaces of the lock file and leaves installed packages alone", () => {
  const text = setVersion({ path: "package-lock.json", text: LOCK }, "0.2.0");
  expect(JSON.parse(text).packages).toEqual({
    ...{ "": { version: "0.2.0" }, server: { version: "0.2.0" } },
    "node_modules/pg": { version: "8.0.0" },
  });
});

it("sets both versions of the chart, and not those of what it depends on", () => {
  const text = 'apiVersion: v2\nversion: 0.1.0\nappVersion: "0.1.0"\ndependencies:\n  - version: 1.0.0\n';
  const chart = { path: "deploy/chart/Chart.yaml", text };
  expect(findDifferingVersions([chart], "0.1.0")).toEqual([]);
  expect(setVersion(chart, "0.2.0")).toContain(
    "\nversion: 0.2.0\nappVersion: 0.2.0\ndependencies:\n  - version: 1.0.0",
  );
});

it("names a file whose version differs", () => {
  const files = [{ path: "server/package.json", text: '{"version":"0.1.1"}' }];
  expect(findDifferingVersions(files, "0.1.0")).toEqual(["server/package.json: 0.1.1 instead of 0.1.0"]);
});

it("sets the tag of the image, with a default in a Compose file and in commands of the guide", () => {
  const compose = {
    path: "deploy/compose.yaml",
    text: "image: gesso:0.1.0-rc.1\nother: redis:7.0.0\n",
  };
  expect(findDifferingVersions([compose], "0.1.0-rc.1")).toEqual([]);
  expect(setVersion(compose, "0.2.0")).toBe("image: gesso:0.2.0\nother: redis:7.0.0\n");
  const guide = { path: "docs/guide/docker.md", text: "docker build -t gesso:0.1.0 --build-arg VERSION=0.1.0 .\n" };
  expect(setVersion(guide, "0.2.0")).toBe("docker build -t gesso:0.2.0 --build-arg VERSION=0.2.0 .\n");
});
