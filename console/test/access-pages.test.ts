// Every page of the console, with texts that try to run as code: what it loads, shows and keeps to itself.
import type { Run } from "@gesso/client";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestTenant } from "../../server/test/support/tenants.ts";
import hostileTexts from "./hostile-texts.json" with { type: "json" };
import { type ConsoleBrowser, createSignInPath, startConsoleBrowser, type Tab } from "./support/console-browser.ts";
import { listConsolePaths } from "./support/console-routes.ts";
import { createPageOpener } from "./support/settled-page.ts";
import { waitUntil } from "./support/wait-until.ts";

const LONG_LETTERS = 8000;
/** The longest prompt, without a space at which a line could break. */
const LONG = `long${"x".repeat(LONG_LETTERS - 4)}`;
const TEXTS = [...hostileTexts, LONG];
/** Words of the first tenant that no other may receive. */
const MARKER = "kestrel-over-the-weir";

type PageOpener = ReturnType<typeof createPageOpener>;
/** What one page showed. */
type Visit = { path: string; words: string; csp: string | undefined; findings: string[] };

let browser: ConsoleBrowser;
/** Of the same tenant, with the scope that the pages of operators need. */
let operatorKey: string;
let [visits, runs, deliveryId, walk] = [] as unknown as [Visit[], Run[], string, Tab];

beforeAll(async () => {
  browser = await startConsoleBrowser();
  const { tenant } = await browser.client.me.get();
  const scopes = ["*", "tenants:read"];
  operatorKey = (await createTestTenant(browser.environment, { tenantId: tenant.id, scopes })).key;
  runs = await makeHostileContent();
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  walk = await browser.openTab(context, await createSignInPath(browser.url, operatorKey));
  await walk.page.getByRole("navigation").first().waitFor();
  walk.page.on("dialog", (dialog) => {
    walk.problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  visits = [];
  const open = createPageOpener(walk.page);
  for (const path of pathsOfEveryPage()) visits.push(await visit(open, walk.page, path));
});
afterAll(() => browser?.stop());

/** Runs, keys, members, models and webhooks that have every hostile text wherever a text is free. */
async function makeHostileContent(): Promise<Run[]> {
  const { client } = browser;
  await client.webhooks.create({ url: "https://example.com/hook", description: TEXTS[0]! });
  const made: Run[] = [];
  for (const [index, text] of TEXTS.entries()) {
    const short = text.slice(0, 150);
    const metadata = { note: text.slice(0, 400) };
    made.push(await client.images.generate({ prompt: text, width: 64, height: 64, metadata }).wait());
    await client.keys.create({ name: short, scopes: ["runs:read"] });
    await client.members.add({ user_id: `hostile-${index}`, role: "viewer", name: short });
  }
  const marked = await client.images.generate({ prompt: MARKER }).wait();
  const listDeliveries = async () => (await client.webhooks.deliveries.list({ run_id: made[0]!.run_id })).data;
  await waitUntil(
    async () => (await listDeliveries()).length > 0,
    () => "a delivery",
  );
  deliveryId = (await listDeliveries())[0]!.id;
  return [...made, marked];
}

/** The pages of the router, with content, and those that a search parameter changes. */
function pathsOfEveryPage(): string[] {
  const [first, second] = runs.map(({ run_id }) => run_id);
  return [
    ...listConsolePaths({ runId: first!, deliveryId }),
    ...runs.slice(1).map(({ run_id }) => `/runs/${run_id}?tab=inputs`),
    ...["timeline", "tree", "layers", "code"].map((tab) => `/runs/${runs[6]!.run_id}?tab=${tab}`),
    ...[`/?from=${first}`, `/compare?items=${first},${second}`, "/people?tab=audit"],
    `/gallery?q=${encodeURIComponent(TEXTS[0]!)}`,
  ];
}

async function visit(open: PageOpener, page: Page, path: string): Promise<Visit> {
  const response = await open(`${browser.url}/console${path}`);
  const { words, findings } = await page.evaluate(inspectPage);
  return { path, words, csp: response?.headers()["content-security-policy"], findings };
}

/** Runs in the page: what it shows, and what a hostile text has done to it. */
function inspectPage() {
  const findings: string[] = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) findings.push(`is ${scrollWidth} px wide in ${clientWidth} px`);
  if ("__ran" in window) findings.push(`ran code ${String(window.__ran)}`);
  if ("polluted" in {}) findings.push("has a changed prototype");
  const injected =
    'img[src="x"], script:not([src]), iframe, base, [onerror], [onload], [href^="javascript:" i], body style';
  for (const each of document.querySelectorAll(injected)) findings.push(`has ${each.outerHTML.slice(0, 80)}`);
  // A text that turns the direction of writing must not turn what stands beside it.
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (!/[\u202a-\u202e\u2066-\u2069]/.test(node.nodeValue ?? "")) continue;
    let block = node.parentElement!;
    const isPartOfLine = () => {
      const { display, unicodeBidi } = getComputedStyle(block);
      return display === "inline" && !unicodeBidi.includes("isolate");
    };
    while (isPartOfLine()) block = block.parentElement!;
    const beside = block.textContent!.replace(node.nodeValue!, "").trim();
    if (beside !== "") findings.push(`turns the direction of "${beside.slice(0, 40)}"`);
  }
  return { words: document.body.innerText, findings };
}

describe("[CON-6] every page", () => {
  it("has the exact content security policy, no violation of it and no error", () => {
    const origin = browser.url;
    const policy =
      `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data: ${origin}; ` +
      `media-src 'self' blob: ${origin}; connect-src 'self'; font-src 'self'; form-action 'none'; ` +
      "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
    expect(visits.filter(({ csp }) => csp !== policy)).toEqual([]);
    expect(walk.problems).toEqual([]);
    expect(visits.length).toBeGreaterThan(25);
  });

  it("cannot insert HTML, inline scripts or frames, even by a script of its own", async () => {
    const page = await walk.context.newPage();
    await page.goto(`${browser.url}/console/keys`);
    const outcomes = await page.evaluate(async () => {
      const attempt = (act: () => unknown) => {
        try {
          act();
          return "done";
        } catch (thrown) {
          return (thrown as Error).name;
        }
      };
      const script = document.createElement("script");
      const frame = document.createElement("iframe");
      const violations: string[] = [];
      // The browser reports violations in tasks of their own.
      const framesAreReported = new Promise<void>((resolve) => {
        document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
          violations.push(effectiveDirective);
          if (effectiveDirective === "frame-src") resolve();
        });
      });
      const thrown = [
        attempt(() => document.body.insertAdjacentHTML("beforeend", "<b>x</b>")),
        attempt(() => {
          document.createElement("div").innerHTML = "<b>x</b>";
        }),
        attempt(() => {
          script.text = "window.__ran = 1";
        }),
        attempt(() => document.body.append(Object.assign(frame, { src: "https://evil.example.com/" }))),
      ];
      await fetch("https://evil.example.com/").catch(() => undefined);
      await framesAreReported;
      return { thrown, violations };
    });
    expect(outcomes.thrown).toEqual(["TypeError", "TypeError", "TypeError", "done"]);
    expect(outcomes.violations).toEqual(expect.arrayContaining(["connect-src", "frame-src"]));
    await page.close();
  });
});

describe("[CON-7] hostile texts", () => {
  it("run nowhere, turn nothing beside them and overflow no page", () => {
    expect(visits.filter(({ findings }) => findings.length > 0).map(({ path, findings }) => [path, findings])).toEqual(
      [],
    );
  });

  it("are shown as text on every page that shows prompts, names or descriptions", () => {
    const shown = (start: string, text: string) =>
      visits.some(({ path, words }) => path.startsWith(start) && words.includes(text));
    const plain = (text: string) => text.replaceAll(/\s+/g, " ").trim();
    expect(shown("/runs", TEXTS[0]!)).toBe(true);
    expect(shown("/keys", TEXTS[1]!)).toBe(true);
    expect(shown("/people", TEXTS[2]!)).toBe(true);
    for (const [index, text] of TEXTS.entries()) {
      const own = visits.find(({ path }) => path.startsWith(`/runs/${runs[index]!.run_id}`))!;
      expect([text.slice(0, 40), plain(own.words).includes(plain(text))]).toEqual([text.slice(0, 40), true]);
    }
  });

  it("overflow no page of a phone", async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true });
    const tab = await browser.openTab(context, await createSignInPath(browser.url, operatorKey));
    await tab.page.getByRole("navigation").first().waitFor();
    const open = createPageOpener(tab.page);
    const wide: [string, string[]][] = [];
    for (const path of listConsolePaths({ runId: runs[TEXTS.length - 1]!.run_id, deliveryId })) {
      const { findings } = await visit(open, tab.page, path);
      if (findings.length > 0) wide.push([path, findings]);
    }
    expect(wide).toEqual([]);
    expect(tab.problems).toEqual([]);
    await context.close();
  });
});

describe("[CON-8] every page", () => {
  it("sends requests to its own origin only, without a network", () => {
    expect(walk.problems.filter((problem) => problem.startsWith("request to"))).toEqual([]);
    expect(visits.filter(({ words }) => words.trim() === "")).toEqual([]);
  });
});

describe("[CON-10] another tenant", () => {
  it("finds nothing at any URL, and receives no byte of it", async () => {
    const other = await createTestTenant(browser.environment);
    const marked = runs.at(-1)!;
    const context = await browser.newContext();
    const bodies: Promise<[url: string, body: Buffer]>[] = [];
    context.on("response", (response) => {
      if (!response.headers()["content-type"]?.includes("event-stream"))
        bodies.push(
          response.body().then(
            (body) => [response.url(), body],
            () => [response.url(), Buffer.alloc(0)],
          ),
        );
    });
    const tab = await browser.openTab(context, await createSignInPath(browser.url, other.key));
    await tab.page.getByRole("navigation").first().waitFor();
    const open = createPageOpener(tab.page);
    const { run_id } = marked;
    const withId = [`/runs/${run_id}`, `/runs/${run_id}?tab=tree`, `/paint/${run_id}`];
    const paths = listConsolePaths({ runId: run_id, deliveryId });
    for (const path of [
      ...paths,
      ...withId,
      `/?from=${run_id}`,
      `/compare?items=${run_id},${run_id}`,
      `/gallery?q=${MARKER}`,
    ]) {
      const { words } = await visit(open, tab.page, path);
      expect([path, words.includes(MARKER)]).toEqual([path, false]);
      if (withId.includes(path)) expect(words).toContain("does not exist, or you cannot see it");
    }
    const file = Buffer.from(await (await fetch(marked.outputs[0]!.url)).arrayBuffer());
    const leaks = (await Promise.all(bodies)).filter(([, body]) =>
      [Buffer.from(MARKER), file.subarray(0, 2000)].some((secret) => body.includes(secret)),
    );
    expect(leaks.map(([url]) => url)).toEqual([]);
    expect(bodies.length).toBeGreaterThan(50);
    await context.close();
  });
});
