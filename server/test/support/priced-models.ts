// A catalogue file with prices for two models of the sandbox, so that tests can see what runs cost.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** `flux-dev` takes an idempotency key; `vendora` cannot be asked about a lost response. */
const PRICES = { "flux-dev": 0.02, vendora: 0.05 };

export function writePrices(): { path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "gesso-prices-"));
  const path = join(folder, "gesso.yaml");
  const offers = Object.entries(PRICES).map(
    ([model, price]) => `  ${model}:\n    - { provider: sandbox, price: ${price} }\n`,
  );
  writeFileSync(path, `models:\n${offers.join("")}`);
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
