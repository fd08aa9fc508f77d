// The commands written by hand, with the line that `gesso --help` shows. The code of a command is loaded when it is
// used, so that every command starts fast. The commands of the API's operations are not in this table.
import type { Command } from "commander";

export type CommandEntry = {
  description: string;
  /** Heading in `gesso --help`. */
  group: string;
  /** Whether operations of the API add commands to this one. */
  hasOperations?: boolean;
  /** Whether the command learns its flags only when it runs. It reads all flags that it does not know, and --help. */
  hasLateFlags?: boolean;
  load(): Promise<Command>;
};

/** Headings of `gesso --help`, in their order. */
export const GROUPS = {
  images: "Images and videos:",
  resources: "Runs and settings:",
  server: "Server:",
  account: "This program:",
} as const;

export const COMMANDS: Record<string, CommandEntry> = {
  run: {
    description: "Run any model of a provider, with flags from its own schema.",
    group: GROUPS.images,
    hasLateFlags: true,
    load: async () => (await import("./commands/run.ts")).modelRunCommand(),
  },
  dev: {
    description: "Start Gesso and its dependencies on this machine, for development.",
    group: GROUPS.server,
    load: async () => (await import("./commands/dev.ts")).devCommand(),
  },
  init: {
    description: "Write a deployment with Docker Compose: services, TLS, secrets.",
    group: GROUPS.server,
    load: async () => (await import("./commands/init.ts")).initCommand(),
  },
  providers: {
    description: "Connect providers to gesso dev, and list what each unlocks.",
    group: GROUPS.server,
    load: async () => (await import("./commands/providers.ts")).providersCommand(),
  },
  console: {
    description: "Print a link that signs in to the console.",
    group: GROUPS.server,
    load: async () => (await import("./commands/console.ts")).consoleCommand(),
  },
  doctor: {
    description: "Check the configuration, the dependencies and every enabled provider.",
    group: GROUPS.server,
    load: async () => (await import("./commands/doctor.ts")).doctorCommand(),
  },
  upgrade: {
    description: "Check whether this version can replace the one that runs.",
    group: GROUPS.server,
    load: async () => (await import("./commands/upgrade.ts")).upgradeCommand(),
  },
  config: {
    description: "Print the settings of the server.",
    group: GROUPS.server,
    load: async () => (await import("./commands/config.ts")).configCommand(),
  },
  admin: {
    description: "Explain and repair runs, pause parts of the installation, replace a lost key (operator).",
    group: GROUPS.resources,
    hasOperations: true,
    load: async () => (await import("./commands/admin.ts")).adminCommand(),
  },
  webhooks: {
    description: "Manage webhooks, and receive and test them on this machine.",
    group: GROUPS.resources,
    hasOperations: true,
    load: async () => (await import("./commands/webhooks.ts")).webhooksCommand(),
  },
  models: {
    description: "Add models of providers for gesso run, and manage custom models.",
    group: GROUPS.resources,
    hasOperations: true,
    load: async () => (await import("./commands/models.ts")).modelsCommand(),
  },
  prices: {
    description: "List what offers cost, and compare with what providers charge today.",
    group: GROUPS.resources,
    load: async () => (await import("./commands/prices.ts")).pricesCommand(),
  },
  mcp: {
    description: "Serve Gesso's tools to an MCP client over standard input and output.",
    group: GROUPS.server,
    load: async () => (await import("./commands/mcp.ts")).mcpCommand(),
  },
  login: {
    description: "Sign in to a server and save the credential.",
    group: GROUPS.account,
    load: async () => (await import("./commands/login.ts")).loginCommand(),
  },
  logout: {
    description: "Remove the saved credential.",
    group: GROUPS.account,
    load: async () => (await import("./commands/logout.ts")).logoutCommand(),
  },
  whoami: {
    description: "Show the server, the user and the permissions of the credential.",
    group: GROUPS.account,
    load: async () => (await import("./commands/whoami.ts")).whoamiCommand(),
  },
  completion: {
    description: "Print the completion script of a shell.",
    group: GROUPS.account,
    load: async () => (await import("./commands/completion.ts")).completionCommand(),
  },
};
