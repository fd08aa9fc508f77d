// The names under which Gesso is published, and what every published package says about itself. Names on a registry may
// belong to others: change them here, nowhere else.
import manifest from "../../package.json" with { type: "json" };

export const PACKAGE_NAME = "gesso";
export const DEV_PACKAGE_NAME = "gesso-dev";
export const CLIENT_NAME = "@gesso/client";
export const VERSION: string = manifest.version;

export const ABOUT = {
  license: "Apache-2.0",
  homepage: "https://github.com/gesso-run/gesso#readme",
  repository: { type: "git", url: "git+https://github.com/gesso-run/gesso.git" },
  bugs: { url: "https://github.com/gesso-run/gesso/issues" },
} as const;
