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
      reason: "Gesso has no web console: it serves no HTML, cookies or sessions.",
    },
    {
      id: "T110",
      asset: "sessions",
      entry: "forms",
      threat: "a page of another site posts a form",
      control: "there is no console",
      kind: "not applicable",
      reason: "Gesso has no web console: it serves no HTML, cookies or sessions.",
    },
    {
      id: "T111",
      asset: "sessions",
      entry: "login",
      threat: "a login is forged or redirects elsewhere",
      control: "there is no console",
      kind: "not applicable",
      reason: "Gesso has no web console: it serves no HTML, cookies or sessions.",
    },
    {
      id: "T112",
      asset: "sessions",
      entry: "cookies",
      threat: "a session survives logout",
      control: "there is no console",
      kind: "not applicable",
      reason: "Gesso has no web console: it serves no HTML, cookies or sessions.",
    },
    {
      id: "T113",
      asset: "users",
      entry: "frames",
      threat: "a page is shown inside another one",
      control: "there is no console",
      kind: "not applicable",
      reason: "Gesso has no web console: it serves no HTML, cookies or sessions.",
    },
    {
      id: "T114",
      asset: "secrets",
      entry: "page source, browser storage",
      threat: "a secret stays in the browser",
      control: "there is no console",
      kind: "not applicable",
      reason: "Gesso has no web console: it serves no HTML, cookies or sessions.",
    },
  ],
};
