// Every page of the console, read from its router, so that a new page is tested without an entry here.
import { readFileSync } from "node:fs";

const ROUTER = new URL("../../src/app/router.tsx", import.meta.url);

/** Paths with a value for each parameter, such as the ID of a run for `$runId`. */
export function listConsolePaths(parameters: Record<string, string>): string[] {
  const source = readFileSync(ROUTER, "utf8");
  const patterns = [...source.matchAll(/\bbelow\("([^"]+)"\)|\bpath: "([^"]+)"/g)].map(
    ([, own, whole]) => own ?? whole!,
  );
  const routes = source.match(/\bcreateRoute\(/g)?.length ?? 0;
  // One route is the frame of the others and has no path.
  if (patterns.length !== routes - 1) throw new Error(`${routes} routes, but ${patterns.length} paths in the router`);
  return patterns.map((pattern) =>
    pattern.replaceAll(/\$(\w+)/g, (_, name: string) => {
      const value = parameters[name];
      if (value === undefined) throw new Error(`${pattern}: the test has no value for $${name}`);
      return value;
    }),
  );
}
