// Every way into Gesso, and the threats that begin there. `scripts/check-threats.ts` compares the ways with the code:
// a route, group of operations, scope or kind of credential without a line here fails the check.
import type { Threat } from "./threat.ts";

type Ways = Record<string, Threat["id"][]>;

const CONSOLE: Threat["id"][] = ["T110", "T111", "T112"];
const OPERATIONS: Threat["id"][] = ["T18", "T21", "T63"];
const PUBLIC: Threat["id"][] = ["T74", "T118"];

export const routesIn: Ways = {
  "/": PUBLIC,
  "/.well-known/webhook-keys": ["T25", "T82"],
  "/callbacks/:provider/:run_id/:request_index{\\\\d+}/:attempt_number{\\\\d+}/:signature": ["T90", "T91"],
  "/cli/config.json": ["T118", "T136"],
  "/console": ["T109", "T113"],
  "/console/codes": ["T111"],
  "/console/config.json": ["T118"],
  "/console/session": CONSOLE,
  "/console/session/oidc/:issuer{${ISSUER_ID}}": ["T111"],
  "/console/session/oidc/:issuer{${ISSUER_ID}}/callback": ["T111"],
  "/console/sessions": CONSOLE,
  "/console/sessions/:session_id{${SESSION_ID}}": CONSOLE,
  "/errors": PUBLIC,
  "/errors/:code": PUBLIC,
  "/exports/:tenant_id{${TENANT_ID}}/:signature": ["T20", "T92", "T134"],
  "/files/:asset_id{${ASSET_ID}}/:signature": ["T92", "T95", "T97", "T98"],
  "/livez": ["T118"],
  "/openapi.json": ["T118"],
  "/readyz": ["T118"],
  "/version": ["T118"],
  "${PREFIX}/*": ["T132"],
  "${PREFIX}/images/${endpoint}": ["T132", "T133"],
  "${PREFIX}/models": ["T132"],
  "${PREFIX}/models/:model{.+}": ["T132"],
  "mcp/mcp-routes METADATA_PATH": ["T118"],
  "mcp/mcp-routes PATH": ["T131"],
  "operation-routes operation.http.method": OPERATIONS,
  "operation-routes path": ["T75"],
};

export const operationsIn: Ways = {
  admin: ["T21", "T134"],
  audit: ["T29"],
  catalogue: ["T18"],
  edit: ["T30", "T57", "T58"],
  events: ["T20", "T104"],
  generateVideo: ["T40", "T105"],
  images: ["T41", "T49", "T135"],
  keys: ["T08"],
  me: ["T18"],
  members: ["T17", "T21"],
  models: ["T22", "T23"],
  prompts: ["T64", "T77"],
  provenance: ["T43", "T126"],
  runs: ["T18", "T26", "T27", "T99", "T134"],
  system: ["T118"],
  tenants: ["T14", "T21"],
  tokens: ["T08", "T106"],
  usage: ["T18"],
  webhooks: ["T79", "T84", "T88"],
};

export const scopesIn: Ways = {
  "agents:write": ["T131"],
  "audit:read": ["T21"],
  "catalogue:read": ["T18"],
  "content:read": ["T134"],
  "events:read": ["T20"],
  "images:read": ["T20"],
  "images:write": ["T61"],
  "keys:read": ["T05"],
  "keys:write": ["T08"],
  "me:read": ["T18"],
  "members:read": ["T18"],
  "members:write": ["T21"],
  "models:read": ["T23"],
  "models:write": ["T22"],
  "prompts:read": ["T77"],
  "prompts:write": ["T77"],
  "provenance:write": ["T43"],
  "runs:read": ["T18"],
  "runs:write": ["T99", "T103"],
  "tenants:read": ["T21", "T134"],
  "tenants:write": ["T21"],
  "tokens:write": ["T08"],
  "usage:read": ["T18"],
  "videos:write": ["T105"],
  "webhooks:read": ["T84"],
  "webhooks:write": ["T79"],
};

export const credentialsIn: Ways = {
  "accepted: accessTokens": ["T09", "T13"],
  "accepted: issuers": ["T09", "T10", "T13", "T14", "T17"],
  "accepted: keys": ["T01", "T04", "T07"],
  "accepted: unknownKeys": ["T01"],
  "secret: assets": ["T92"],
  "secret: audit": ["T29"],
  "secret: callbacks": ["T90"],
  "secret: console-login": ["T111"],
  "secret: cursors": ["T28"],
  "secret: mcp-state": ["T131"],
  "secret: tokens": ["T09"],
  "secret: webhook secrets": ["T84"],
  "sign-in: code": ["T111"],
  "sign-in: key": ["T111"],
  "sign-in: oidc": ["T17", "T111"],
};
