// Builds the console once before its tests in the browser, so that they see the sources of this checkout.
import { fileURLToPath } from "node:url";
import { build } from "vite";

export default async function buildConsole(): Promise<void> {
  await build({ root: fileURLToPath(new URL("../..", import.meta.url)), logLevel: "error" });
}
