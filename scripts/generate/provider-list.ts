// Generates what `gesso dev`, `gesso providers` and the console know about providers: their settings, what they unlock,
// the page where their key comes from, their prices, and what a server needs. Clients never import the server.
import { z } from "zod";
import { type Price, priceInShort } from "../../server/src/prices/price.ts";
import { providers } from "../../server/src/providers/all.ts";
import type { Offer, Provider } from "../../server/src/providers/provider.ts";
import { describeServerSetup, requiredSettings } from "../../server/src/providers/server-setup.ts";

function describeSettings({ env }: Pick<Provider, "env">): { name: string; description: string; secret: boolean }[] {
  const { properties = {} } = z.toJSONSchema(env, { io: "input", unrepresentable: "any" });
  return requiredSettings({ env }).map((name) => ({
    name,
    description: (properties[name] as { description?: string }).description ?? "",
    secret: /KEY|TOKEN|SECRET/.test(name),
  }));
}

/** Gesso's own prices, for whom no server runs whose catalogue could be read. */
const listOffers = (offers: readonly Offer[]) =>
  offers
    .filter(({ lifecycle }) => lifecycle?.state !== "retired")
    .map(({ task, model, price }) => ({ task, model, ...inShort(price) }));

function inShort(price: Price | null) {
  if (price === null) return { price, per: "image", at_most: false };
  const { usd, per, atMost } = priceInShort(price);
  return { price: usd, per, at_most: atMost };
}

export function generateProviderList(): string {
  const list = providers.flatMap(({ id, profile, env, offers, parseCallback }) =>
    profile
      ? [
          {
            ...{ id, name: profile.name, unlocks: profile.unlocks, key_page: profile.keyPage ?? null },
            calls_back: parseCallback !== undefined,
            settings: describeSettings({ env }),
            offers: listOffers(offers),
            setup: describeServerSetup(requiredSettings({ env })),
          },
        ]
      : [],
  );
  const toLines = (rows: readonly object[]) => rows.map((row) => `    ${JSON.stringify(row)}`).join(",\n");
  const entries = list.map(({ settings, offers, setup, ...entry }) => {
    const fields = `${JSON.stringify(entry).slice(0, -1)},"settings":${JSON.stringify(settings)}`;
    return `  ${fields},"offers":[\n${toLines(offers)}\n  ],"server_setup":[\n${toLines(setup)}\n  ]}`;
  });
  return `[\n${entries.join(",\n")}\n]\n`;
}
