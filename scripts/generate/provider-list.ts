// Generates what `gesso dev` and `gesso providers` know about providers: their settings, what they unlock, and the page
// where their key comes from, with their prices. Clients never import the server.
import { z } from "zod";
import { type Price, priceInShort } from "../../server/src/prices/price.ts";
import { providers } from "../../server/src/providers/all.ts";
import type { Offer } from "../../server/src/providers/provider.ts";

/** Only settings without which a provider is disabled: its key, or the URL of its servers. */
function requiredSettings(schema: z.ZodObject): { name: string; description: string; secret: boolean }[] {
  const missing = schema.safeParse({}).error?.issues.map(({ path }) => String(path[0])) ?? [];
  const { properties = {} } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return [...new Set(missing)].map((name) => ({
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
  const list = providers.flatMap(({ id, profile, env, offers }) =>
    profile
      ? [
          {
            ...{ id, name: profile.name, unlocks: profile.unlocks, key_page: profile.keyPage ?? null },
            settings: requiredSettings(env as z.ZodObject),
            offers: listOffers(offers),
          },
        ]
      : [],
  );
  const entries = list.map(({ settings, offers, ...entry }) => {
    const fields = JSON.stringify(entry).slice(0, -1);
    const lines = offers.map((offer) => `    ${JSON.stringify(offer)}`).join(",\n");
    return `  ${fields},"settings":${JSON.stringify(settings)},"offers":[\n${lines}\n  ]}`;
  });
  return `[\n${entries.join(",\n")}\n]\n`;
}
