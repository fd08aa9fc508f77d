// Threats to a web console, which Gesso does not have.
import type { ThreatSection } from "../threat.ts";

export const consoleSection: ThreatSection = {
  title: "Console",
  threats: [
    {
      id: "T109",
      asset: "sessions",
      entry: "prompts, metadata, names",
      threat: "stored scripts run in a console",
      control: "there is no console",
      kind: "not applicable",
      reason:
        "Gesso has no web console, cookies or sessions. Its few HTML pages show nothing of users and run no script.",
    },
    {
      id: "T110",
      asset: "sessions",
      entry: "forms",
      threat: "a page of another site posts a form",
      control: "there is no console",
      kind: "not applicable",
      reason:
        "Gesso has no web console, cookies or sessions. Its few HTML pages show nothing of users and run no script.",
    },
    {
      id: "T111",
      asset: "sessions",
      entry: "login",
      threat: "a login is forged or redirects elsewhere",
      control: "there is no console",
      kind: "not applicable",
      reason:
        "Gesso has no web console, cookies or sessions. Its few HTML pages show nothing of users and run no script.",
    },
    {
      id: "T112",
      asset: "sessions",
      entry: "cookies",
      threat: "a session survives logout",
      control: "there is no console",
      kind: "not applicable",
      reason:
        "Gesso has no web console, cookies or sessions. Its few HTML pages show nothing of users and run no script.",
    },
    {
      id: "T113",
      asset: "users",
      entry: "frames",
      threat: "a page is shown inside another one",
      control: "there is no console",
      kind: "not applicable",
      reason:
        "Gesso has no web console, cookies or sessions. Its few HTML pages show nothing of users and run no script.",
    },
    {
      id: "T114",
      asset: "secrets",
      entry: "page source, browser storage",
      threat: "a secret stays in the browser",
      control: "there is no console",
      kind: "not applicable",
      reason:
        "Gesso has no web console, cookies or sessions. Its few HTML pages show nothing of users and run no script.",
    },
  ],
};
