// The threat table: every threat that Gesso is designed against, with its control and the tests that show it.
import { attribution } from "./rows/attribution.ts";
import { clients } from "./rows/clients.ts";
import { consoleSection } from "./rows/console.ts";
import { credentials } from "./rows/credentials.ts";
import { development } from "./rows/development.ts";
import { endUsers } from "./rows/end-users.ts";
import { infrastructure } from "./rows/infrastructure.ts";
import { money } from "./rows/money.ts";
import { outbound } from "./rows/outbound.ts";
import { privacy } from "./rows/privacy.ts";
import { requests } from "./rows/requests.ts";
import { storage } from "./rows/storage.ts";
import { supplyChain } from "./rows/supply-chain.ts";
import { tenants } from "./rows/tenants.ts";
import { uploads } from "./rows/uploads.ts";
import { webhooks } from "./rows/webhooks.ts";
import type { ThreatSection } from "./threat.ts";

/** The first five sections are T01 to T78. */
export const threatSections: ThreatSection[] = [
  ...[credentials, tenants, outbound, uploads, requests],
  ...[webhooks, storage, money, consoleSection, infrastructure, supplyChain, privacy],
  ...[clients, endUsers, development, attribution],
];
