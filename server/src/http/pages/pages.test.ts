// The HTML pages of the API: one for every error code, and the start page for browsers.
import { Hono } from "hono";
import { expect, test } from "vitest";
import { type FaultCode, faults } from "../../faults/faults.ts";
import { faultGuidance } from "../../faults/guidance.ts";
import { errorPageRoutes } from "./error-pages.ts";
import { escapeHtml, renderInline } from "./html-page.ts";
import { startPageRoutes } from "./start-page.ts";

const app = new Hono().route("/", errorPageRoutes()).route("/", startPageRoutes("https://images.example.com", true));
const browser = { accept: "text/html,application/xhtml+xml" };

test.each(Object.keys(faults) as FaultCode[])("the page of %s says when it happens and what to do", async (code) => {
  const response = await app.request(`/errors/${code}`);
  expect(response.status).toBe(200);
  const html = await response.text();
  for (const text of [code, renderInline(faultGuidance[code].when), renderInline(faultGuidance[code].fix)])
    expect(html).toContain(text);
});

test("a code that does not exist has no page", async () => {
  expect((await app.request("/errors/constructor")).status).toBe(404);
  expect((await app.request("/errors/%3Cscript%3E")).status).toBe(404);
});

test("the list links every code", async () => {
  const html = await (await app.request("/errors")).text();
  for (const code of Object.keys(faults)) expect(html).toContain(`href="/errors/${code}"`);
});

test("a browser gets the start page with this server's URL, and an API client a 404", async () => {
  const page = await app.request("/", { headers: browser });
  expect(page.status).toBe(200);
  const html = await page.text();
  expect(html).toContain("https://images.example.com/api/v1/runs/generate");
  expect(html).toContain(`href="/console"`);
  const withoutConsole = new Hono().route("/", startPageRoutes("https://images.example.com", false));
  expect(await (await withoutConsole.request("/", { headers: browser })).text()).not.toContain("/console");
  expect((await app.request("/", { headers: { accept: "application/json" } })).status).toBe(404);
  expect((await app.request("/")).status).toBe(404);
});

test("a page may load nothing and run nothing", async () => {
  const policy = (await app.request("/errors")).headers.get("content-security-policy")!;
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]+=*'; base-uri 'none'; form-action 'none'/);
});

test("text is escaped", () => {
  expect(escapeHtml(`<a href="x">'&`)).toBe("&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
  expect(renderInline("send `<key>` now")).toBe("send <code>&lt;key&gt;</code> now");
});
