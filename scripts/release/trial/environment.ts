// The environment of a trial: an empty home folder and a chosen Node.js, without the programs and settings of this
// clone. Only the way to the registry is taken from the caller.
import { execFileSync } from "node:child_process";
import { delimiter, resolve } from "node:path";

/**
 * Without the certificate authorities of the caller, npm repeats each failed request to a private registry for minutes.
 * npm finds its global settings beside the Node.js that runs it, so another Node.js would not find them.
 */
const REGISTRY_SETTINGS = ["registry", "cafile", "proxy", "https-proxy", "noproxy"];

export function createTrialEnvironment(home: string, nodeFolder: string | undefined): Record<string, string> {
  const path = (process.env.PATH ?? "").split(delimiter).filter((part) => !part.includes("node_modules"));
  return {
    ...readRegistrySettings(path.join(delimiter)),
    ...(process.env.NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS }),
    HOME: home,
    PATH: [...(nodeFolder ? [resolve(nodeFolder)] : []), ...path].join(delimiter),
  };
}

/** As the npm of the system knows them. */
function readRegistrySettings(path: string): Record<string, string> {
  const settings = REGISTRY_SETTINGS.map((name) => {
    const value = execFileSync("npm", ["config", "get", name], {
      env: { ...process.env, PATH: path },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    return [`npm_config_${name.replace("-", "_")}`, value] as const;
  });
  return Object.fromEntries(settings.filter(([, value]) => !["", "null", "undefined"].includes(value)));
}
