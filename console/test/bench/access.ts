// How long a session lasts after its end: after a sign-out, and after another process has revoked its key.
import type { Page } from "playwright-core";
import { createTestTenant } from "../../../server/test/support/tenants.ts";
import type { ConsoleBrowser } from "../support/console-browser.ts";
import { waitUntil } from "../support/wait-until.ts";
import { type Figure, millisecondsOf } from "./figures.ts";

const isRefused = (page: Page) => async () =>
  (await page.evaluate(
    async () => (await fetch("/console/session", { headers: { "x-gesso-console": "1" } })).status,
  )) === 401;

export async function measureAccess(browser: ConsoleBrowser): Promise<Figure[]> {
  const left = await browser.signIn();
  const cookies = await left.context.cookies();
  await left.page.getByRole("button", { name: "Sign out" }).click();
  await left.page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
  await left.context.addCookies(cookies);
  const signedOut = await millisecondsOf(() => waitUntil(isRefused(left.page)));
  await left.context.close();

  const { key, key_id } = await createTestTenant(browser.environment);
  const { page, context } = await browser.signIn({ key });
  await browser.environment.query("update api_keys set revoked_at = now() where key_id = $1", [key_id]);
  const revoked = await millisecondsOf(() => waitUntil(isRefused(page)));
  await context.close();
  return [
    { criterion: "CON-3 ", name: "an old cookie is refused after a sign-out", milliseconds: signedOut, bound: 5000 },
    { criterion: "CON-9 ", name: "a session ends after its key is revoked", milliseconds: revoked, bound: 5000 },
  ];
}
