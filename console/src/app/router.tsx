// The pages by URL, below /console. Each page is loaded when it is opened.
import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { FileQuestion } from "lucide-react";
import { PaletteHost } from "../palette/palette-host.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { Shell } from "../shell/shell.tsx";
import { text } from "../text/text.ts";
import { parseUsageSearch } from "../usage/usage-search.ts";
import { parseWebhooksSearch } from "../webhooks/webhooks-search.ts";
import { PageCrash } from "./page-crash.tsx";
import {
  parseCompareSearch,
  parseGallerySearch,
  parseMakeSearch,
  parsePaintSearch,
  parsePeopleSearch,
  parseRunListSearch,
  parseRunSearch,
} from "./search-params.ts";

type TenantsSearch = { tenant?: string };

const ID = /^[0-9a-f-]{36}$/;

/** The selected tenant, in the URL. */
const parseTenantsSearch = ({ tenant }: Record<string, unknown>): TenantsSearch =>
  typeof tenant === "string" && ID.test(tenant) ? { tenant } : {};

const rootRoute = createRootRoute({
  component: () => (
    <>
      <Outlet />
      <PaletteHost />
    </>
  ),
});

/** Every page but Paint has the navigation and the tray. */
const shellRoute = createRoute({ getParentRoute: () => rootRoute, id: "shell", component: Shell });
const below = <Path extends string>(path: Path) => ({ getParentRoute: () => shellRoute, path });

const makeRoute = createRoute({
  ...below("/"),
  validateSearch: parseMakeSearch,
  component: lazyRouteComponent(() => import("../make/make-page.tsx"), "MakePage"),
});
/** The name of the page as its path, for those who type it. */
const makeNameRoute = createRoute({
  ...below("/make"),
  validateSearch: parseMakeSearch,
  beforeLoad: ({ search }) => {
    throw redirect({ to: "/", search, replace: true });
  },
});
const galleryRoute = createRoute({
  ...below("/gallery"),
  validateSearch: parseGallerySearch,
  component: lazyRouteComponent(() => import("../gallery/gallery-page.tsx"), "GalleryPage"),
});
const runRoute = createRoute({
  ...below("/runs/$runId"),
  validateSearch: parseRunSearch,
  component: lazyRouteComponent(() => import("../run/run-page.tsx"), "RunPage"),
});
const runsRoute = createRoute({
  ...below("/runs"),
  validateSearch: parseRunListSearch,
  component: lazyRouteComponent(() => import("../runs/runs-page.tsx"), "RunsPage"),
});
const compareRoute = createRoute({
  ...below("/compare"),
  validateSearch: parseCompareSearch,
  component: lazyRouteComponent(() => import("../compare/compare-page.tsx"), "ComparePage"),
});
const modelsRoute = createRoute({
  ...below("/models"),
  component: lazyRouteComponent(() => import("../models/models-page.tsx"), "ModelsPage"),
});
const usageRoute = createRoute({
  ...below("/usage"),
  validateSearch: parseUsageSearch,
  component: lazyRouteComponent(() => import("../usage/usage-page.tsx"), "UsagePage"),
});
const webhooksRoute = createRoute({
  ...below("/webhooks"),
  validateSearch: parseWebhooksSearch,
  component: lazyRouteComponent(() => import("../webhooks/webhooks-page.tsx"), "WebhooksPage"),
});
const deliveryRoute = createRoute({
  ...below("/deliveries/$deliveryId"),
  component: lazyRouteComponent(() => import("../webhooks/delivery-page.tsx"), "DeliveryPage"),
});
const keysRoute = createRoute({
  ...below("/keys"),
  component: lazyRouteComponent(() => import("../keys/keys-page.tsx"), "KeysPage"),
});
const peopleRoute = createRoute({
  ...below("/people"),
  validateSearch: parsePeopleSearch,
  component: lazyRouteComponent(() => import("../people/people-page.tsx"), "PeoplePage"),
});
const systemRoute = createRoute({
  ...below("/system"),
  component: lazyRouteComponent(() => import("../system/system-page.tsx"), "SystemPage"),
});
const tenantsRoute = createRoute({
  ...below("/tenants"),
  validateSearch: parseTenantsSearch,
  component: lazyRouteComponent(() => import("../tenants/tenants-page.tsx"), "TenantsPage"),
});
const paintRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/paint/$runId",
  validateSearch: parsePaintSearch,
  component: lazyRouteComponent(() => import("../paint/paint-page.tsx"), "PaintPage"),
});

const routeTree = rootRoute.addChildren([
  shellRoute.addChildren([
    makeRoute,
    makeNameRoute,
    galleryRoute,
    runRoute,
    runsRoute,
    compareRoute,
    modelsRoute,
    usageRoute,
    webhooksRoute,
    deliveryRoute,
    keysRoute,
    peopleRoute,
    systemRoute,
    tenantsRoute,
  ]),
  paintRoute,
]);

export const router = createRouter({
  routeTree,
  basepath: "/console",
  defaultPreload: "intent",
  scrollRestoration: false,
  defaultNotFoundComponent: NotFoundPage,
  defaultErrorComponent: PageCrash,
});

declare module "@tanstack/react-router" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can be extended
  interface Register {
    router: typeof router;
  }
}

/** A URL without a page. */
function NotFoundPage() {
  const next = (
    <Link to="/" className={buttonClass()}>
      {text.pages.notFoundNext}
    </Link>
  );
  return <EmptyState icon={FileQuestion} title={text.pages.notFound} action={next} />;
}
