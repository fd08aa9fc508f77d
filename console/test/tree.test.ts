// The tree of a run as a graph and as a list: keyboard, edges, costs, and places that do not change.
import type { Run, RunTree } from "@gesso/client";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser } from "./support/console-browser.ts";
import { endRun } from "./support/end-run.ts";
import { countCalls } from "./support/function-calls.ts";
import { insertTree } from "./support/large-tree.ts";

const PAN_STEPS = 60;

let console: ConsoleBrowser;
let root: Run;
let edit: Run;
beforeAll(async () => {
  console = await startConsoleBrowser();
  const { client } = console;
  const small = { width: 96, height: 64 };
  root = await endRun(client, client.images.generate({ prompt: "a lighthouse", ...small }));
  const boat = await endRun(client, client.images.generate({ prompt: "a boat", ...small }));
  edit = await endRun(
    client,
    client.images.edit.fluxKontext({
      original_run_id: root.run_id,
      prompt: "make it night",
      model: "flux-kontext-max",
    }),
  );
  const upscale = await endRun(client, client.images.upscale({ run_id: edit.run_id }));
  await endRun(client, client.images.vary({ run_id: upscale.run_id }));
  const withBoat = { run_id: edit.run_id, prompt: "with the boat", reference_image_url: boat.run_id };
  await endRun(client, client.images.edit.vendora(withBoat));
  await client.runs.delete(upscale.run_id);
});
afterAll(() => console?.stop());

const graphOf = (runId: string) => `/runs/${runId}?tab=tree&view=graph`;
const focusedRun = (page: Page) => page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset.run);

async function pressAll(page: Page, keys: string[]): Promise<(string | undefined)[]> {
  const runs: (string | undefined)[] = [];
  for (const key of keys) {
    await page.keyboard.press(key);
    runs.push(await focusedRun(page));
  }
  return runs;
}

describe("the tree", () => {
  it("[CON-27] has the nodes and edges of the API, and works by keyboard", async () => {
    const tree = await console.client.runs.tree(root.run_id);
    const tab = await console.signIn({ path: graphOf(root.run_id) });
    const { page } = tab;
    const items = page.getByRole("tree").getByRole("treeitem");
    await expect.poll(() => items.count()).toBe(tree.nodes.length);
    const shown = await items.evaluateAll((nodes) =>
      nodes.map((node) => [(node as HTMLElement).dataset.run ?? "", Number(node.getAttribute("aria-level"))] as const),
    );
    expect(new Map(shown)).toEqual(new Map(tree.nodes.map((node) => [node.run_id, levelOf(tree, node.run_id)])));

    const edges = await page.locator("path[data-kind]").evaluateAll((paths) =>
      paths.map((path) => {
        const { from, to, kind, role } = (path as unknown as HTMLElement).dataset;
        return { from, to, kind, role, isDashed: getComputedStyle(path).strokeDasharray !== "none" };
      }),
    );
    const expected = tree.edges.map((edge) => ({ ...edge, isDashed: edge.kind === "reference" }));
    expect(edges).toHaveLength(expected.length);
    expect(edges).toEqual(expect.arrayContaining(expected));
    expect(edges.some(({ isDashed }) => isDashed)).toBe(true);

    const deleted = tree.nodes.find((node) => node.deleted)!;
    const ghost = page.locator(`[role=treeitem][data-run="${deleted.run_id}"]`);
    await ghost.getByText("Deleted run").waitFor();
    expect(await ghost.evaluate((node) => getComputedStyle(node).borderTopStyle)).toBe("dashed");

    const [, first] = shown.map(([runId]) => runId);
    const last = shown.at(-1)?.[0];
    await page.locator(`[role=treeitem][data-run="${root.run_id}"]`).focus();
    expect(await pressAll(page, ["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "End", "Home", "d"])).toEqual([
      ...[first, root.run_id, first, root.run_id, last, root.run_id, deleted.run_id],
    ]);

    await page
      .getByRole("button", { name: "List" })
      .or(page.getByRole("radio", { name: "List" }))
      .click();
    await expect.poll(() => items.count()).toBe(tree.nodes.length);
    await page.locator(`[role=treeitem][tabindex="0"]`).focus();
    expect(await pressAll(page, ["Home", "ArrowDown", "ArrowUp", "End"])).toEqual([
      ...[root.run_id, first, root.run_id, last],
    ]);
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });

  it("[CON-28] adds up a branch to the micro-dollar", async () => {
    const { client } = console;
    const tree = await client.runs.tree(root.run_id);
    const tab = await console.signIn({ path: graphOf(root.run_id) });
    for (const runId of [root.run_id, edit.run_id]) {
      await tab.page.locator(`[role=treeitem][data-run="${runId}"]`).click();
      const branch = tree.nodes.filter((node) => isBelow(tree, node.run_id, runId));
      const micros = branch.reduce((sum, { cost }) => sum + Math.round((cost?.amount ?? 0) * 1e6), 0);
      expect(micros).toBeGreaterThan(0);
      const line = tab.page.locator("dl > div").filter({ hasText: `Its branch, ${branch.length} runs` });
      await line.waitFor();
      expect(Math.round(Number((await line.locator("dd").textContent())?.slice(1)) * 1e6)).toBe(micros);
    }
    const whole = tab.page.locator("dl > div").filter({ hasText: "Whole tree" }).locator("dd");
    expect(Number((await whole.textContent())?.slice(1))).toBe(tree.totals.amount);
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });

  it("[CON-29] moves no node when a child arrives, and no view when a run is selected", async () => {
    const { client } = console;
    const tab = await console.signIn({ path: graphOf(root.run_id) });
    const items = tab.page.getByRole("treeitem");
    const { nodes } = await client.runs.tree(root.run_id);
    await expect.poll(() => items.count()).toBe(nodes.length);
    const before = await boxesOf(tab.page);
    await tab.page.locator(`[role=treeitem][data-run="${edit.run_id}"]`).click();
    await tab.page.getByText("Its branch, 4 runs").waitFor();
    expect(await boxesOf(tab.page)).toEqual(before);
    await client.images.vary({ run_id: root.run_id }).asResponse();
    await expect.poll(() => items.count()).toBe(nodes.length + 1);
    const after = await boxesOf(tab.page);
    for (const [runId, box] of Object.entries(before)) expect(after[runId]).toEqual(box);
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });

  it("[CON-30] draws 500 nodes of depth 64 from one request, fills those in view, and pans with little work", async () => {
    const large = await insertTree(console, root, { count: 500, depth: 64 });
    const tab = await console.signIn({ path: `/runs/${large}?tab=tree` });
    const { page } = tab;
    const requests: string[] = [];
    page.on("request", (request) => requests.push(new URL(request.url()).pathname));
    await expect.poll(() => page.getByRole("treeitem").count()).toBe(500);
    const nodes = page.locator("section [role=treeitem]");
    const drawing = await countCalls(page, async () => {
      await page.getByRole("link", { name: "Open graph" }).click();
      await expect.poll(() => nodes.count()).toBe(500);
    });
    expect(await page.locator("path[data-kind]").count()).toBe(499);
    expect(requests.filter((path) => path.endsWith("/tree"))).toHaveLength(1);
    expect(requests.filter((path) => path.includes("/api/v1/runs/"))).toHaveLength(2);
    const filled = await page.locator("section [role=treeitem]:has(*)").count();
    expect(filled).toBeGreaterThan(0);
    expect(filled).toBeLessThan(100);
    const panning = await countCalls(page, () => page.evaluate(panGraph, PAN_STEPS));
    expect(panning / PAN_STEPS).toBeLessThan(drawing / 10);
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });
});

const parentOf = ({ nodes }: RunTree, runId: string) => nodes.find(({ run_id }) => run_id === runId)?.parent_run_id;
const levelOf = (tree: RunTree, runId: string): number => {
  const parent = parentOf(tree, runId);
  return parent ? levelOf(tree, parent) + 1 : 1;
};
const isBelow = (tree: RunTree, runId: string, ancestor: string): boolean => {
  const parent = parentOf(tree, runId);
  return runId === ancestor || (parent ? isBelow(tree, parent, ancestor) : false);
};

const boxesOf = (page: Page): Promise<Record<string, { x: number; y: number }>> =>
  page.getByRole("treeitem").evaluateAll((nodes) =>
    Object.fromEntries(
      nodes.map((node) => {
        const { x, y } = node.getBoundingClientRect();
        return [(node as HTMLElement).dataset.run ?? "", { x, y }];
      }),
    ),
  );

/** Pans the graph, one step per frame. Runs in the page. */
async function panGraph(steps: number): Promise<void> {
  const graph = document.querySelector("section[aria-label=Graph]");
  for (let step = 0; step < steps; step++) {
    graph?.dispatchEvent(new WheelEvent("wheel", { deltaX: 90, deltaY: 30, bubbles: true, cancelable: true }));
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
}
