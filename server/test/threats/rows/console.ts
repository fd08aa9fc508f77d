// Threats to the web console and its sessions.
import type { ThreatSection } from "../threat.ts";

const OVER_HTTP = "server/test/access/console.test.ts";
const LOGIN = "server/test/access/console-login.test.ts";
const SESSIONS = "server/src/access/sign-in/console-sessions.test.ts";

export const consoleSection: ThreatSection = {
  title: "Console",
  threats: [
    {
      id: "T109",
      asset: "sessions",
      entry: "prompts, metadata, names",
      threat: "stored scripts run in a console",
      control:
        "the content security policy permits scripts of the own origin only, none inline, and no text as HTML (Trusted Types)",
      kind: "control and test",
      tests: { [OVER_HTTP]: ["have the security headers as a fixed text"] },
    },
    {
      id: "T110",
      asset: "sessions",
      entry: "forms",
      threat: "a page of another site posts a form",
      control:
        "the cookie is SameSite=Strict and counts only with Sec-Fetch-Site: same-origin and a header that other origins cannot send",
      kind: "control and test",
      tests: {
        [OVER_HTTP]: [
          "creates no run for a form or a script of another origin",
          "is the credential of every operation below /console/api/v1, for requests of the own page only",
        ],
        "server/src/http/console/same-origin.test.ts": [
          "refuses a request that another site or a link caused, or without the own header",
        ],
      },
    },
    {
      id: "T111",
      asset: "sessions",
      entry: "login",
      threat: "a login is forged or redirects elsewhere",
      control:
        "authorization code flow with PKCE, state and nonce, bound to the browser that started it; it returns to pages of the console only; one-time codes work once; failed sign-ins are limited",
      kind: "control and test",
      tests: {
        [LOGIN]: [
          "is finished only by the browser that started it, once, with its own state",
          "sends state, nonce and a PKCE challenge that no two logins share, and no token to the browser",
          "returns to pages of the console only",
        ],
        [SESSIONS]: ["is exchanged by one of two concurrent requests"],
        [OVER_HTTP]: [
          "tells a wrong key with a request id, and refuses the sixth wrong one of an address within a minute",
        ],
      },
    },
    {
      id: "T112",
      asset: "sessions",
      entry: "cookies",
      threat: "a session survives logout",
      control:
        "a session is a row that signing out deletes; it ends within 5 s after its key is revoked, its member removed or its person signed out at the identity provider, after 12 hours idle and after 7 days; a logout token is verified and counts once",
      kind: "control and test",
      tests: {
        [OVER_HTTP]: [
          "comes at once by signing out, and the cookie is removed",
          "ends an open event stream after its key was revoked by another process",
        ],
        [SESSIONS]: [
          "ends 12 hours after its last request, and after 7 days at the latest",
          "ends within 5 s after its key was revoked or its member removed by another process",
        ],
        [LOGIN]: ["begins a session with the role of the member, and signing out ends it"],
        "server/test/access/back-channel-logout.test.ts": [
          "ends the session that began there, at once, and no other person's",
          "counts once",
          "is refused if it is not the provider's, not for this client, too old, or another kind of token",
        ],
      },
    },
    {
      id: "T113",
      asset: "users",
      entry: "frames",
      threat: "a page is shown inside another one",
      control: "frame-ancestors 'none', and a cookie that is not sent in frames of other sites",
      kind: "control and test",
      tests: { [OVER_HTTP]: ["have the security headers as a fixed text"] },
    },
    {
      id: "T114",
      asset: "secrets",
      entry: "page source, browser storage",
      threat: "a secret stays in the browser",
      control:
        "a key is exchanged for a cookie that scripts cannot read; no response repeats it; changes of access, money and the installation need a login of the last 10 minutes",
      kind: "control and test",
      tests: {
        [OVER_HTTP]: [
          "sets a cookie that scripts and other sites cannot use, and returns no key",
          "works once, and neither the link nor a response contains the key",
          "need a login of the last 10 minutes in a session, and a new sign-in permits them",
          "need a login of the last 10 minutes in a session, and none with a key",
        ],
        "server/src/access/sign-in/recent-login.test.ts": [
          "declares what it changes, and needs a recent login",
          "needs a recent login even without a declaration",
        ],
      },
    },
  ],
};
