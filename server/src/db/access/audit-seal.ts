// Makes the audit log tamper-evident for an attacker who controls the database: the head of its checkpoints has an HMAC
// whose key is never sent to the database. Detected: a changed entry, a removed entry, a removed end of the log, and a
// log that was rebuilt with new digests. A database that was rolled back as a whole is consistent; its head is then
// lower than the one in the process log.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../runtime/clock.ts";
import type { SecretKeys } from "../../runtime/secret-keys.ts";
import type { Database } from "../connect.ts";
import {
  type AuditCheckpointRow,
  type AuditHeadRow,
  appendAuditCheckpoints,
  findAuditHead,
  listAuditCheckpoints,
  listPendingAuditChains,
  markUncoveredAuditChains,
} from "./audit-checkpoints.ts";
import { findTamperedAuditEntries } from "./audit-log.ts";

const BATCH = 500;
/** At most one line per minute about the head, and one about a head that cannot be continued. */
const LOG_INTERVAL_MS = 60_000;

export type AuditBreak = {
  reason:
    | "entry_changed"
    | "entry_missing"
    | "checkpoint_missing"
    | "checkpoint_changed"
    | "head_missing"
    | "head_not_authentic"
    | "head_moved_back";
  tenant_id?: string;
  entry?: number;
};

type SealLog = { info(fields: object, message: string): void; error(fields: object, message: string): void };
type SealDependencies = { database: Database; keys: SecretKeys; clock: Pick<Clock, "now">; log: SealLog };

export type AuditSeal = {
  /** Adds checkpoints for new entries. Returns whether there is more to do. */
  sealNewEntries(): Promise<boolean>;
  /** Makes entries from before checkpoints existed part of the next checkpoint. */
  markUncoveredEntries(): Promise<void>;
  /** Compares every entry with the chain, and the chains with the checkpoints. Changes nothing. */
  check(): Promise<AuditBreak[]>;
};

export function createAuditSeal({ database, keys, clock, log }: SealDependencies): AuditSeal {
  const signer = createHeadSigner(keys);
  let [highestNumber, loggedNumber, loggedAt, reportedAt] = [0, 0, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];

  const report = (found: AuditBreak) => {
    if (clock.now() - reportedAt < LOG_INTERVAL_MS) return;
    reportedAt = clock.now();
    log.error(found, "the audit log was tampered with: no checkpoint is added");
  };
  const logHead = (head: Pick<AuditHeadRow, "number" | "digest" | "key_id">) => {
    if (head.number === loggedNumber || clock.now() - loggedAt < LOG_INTERVAL_MS) return;
    [loggedNumber, loggedAt] = [head.number, clock.now()];
    log.info({ number: head.number, digest: head.digest.toString("hex"), key_id: head.key_id }, "audit head");
  };
  /** The head to continue, or why it cannot be. */
  const readHead = async (): Promise<AuditHeadRow | AuditBreak> => {
    const head = await findAuditHead(database);
    if (!head) return { reason: "head_missing" };
    if (!signer.isAuthentic(head)) return { reason: "head_not_authentic" };
    if (head.number < highestNumber) return { reason: "head_moved_back" };
    highestNumber = head.number;
    return head;
  };

  return {
    async sealNewEntries() {
      const head = await readHead();
      if ("reason" in head) {
        report(head);
        return false;
      }
      const pending = await listPendingAuditChains(database, BATCH);
      // After a rotation of GESSO_SECRET, the head gets a MAC of the new key before the old secret is removed.
      if (pending.length === 0 && (head.mac === null || head.key_id === signer.currentKeyId)) {
        logHead(head);
        return false;
      }
      const checkpoints = pending.map(({ tenant_id, entry, digest, pending_entry }, index) => ({
        ...{ number: head.number + index + 1, tenant_id, entry, entry_digest: digest, pending_entry },
      }));
      const next = signer.sign({
        number: head.number + checkpoints.length,
        digest: checkpoints.reduce(extendDigest, head.digest),
      });
      if (!(await appendAuditCheckpoints(database, head, next, checkpoints))) return true;
      highestNumber = next.number;
      logHead(next);
      return pending.length === BATCH;
    },

    markUncoveredEntries: () => markUncoveredAuditChains(database),

    async check() {
      const changed = await findTamperedAuditEntries(database);
      const head = await readHead();
      return [
        ...changed.map((entry) => ({ reason: "entry_changed" as const, ...entry })),
        ...("reason" in head ? [head] : await findCheckpointBreaks(database, head)),
      ];
    },
  };
}

async function findCheckpointBreaks(database: Database, head: AuditHeadRow): Promise<AuditBreak[]> {
  const breaks: AuditBreak[] = [];
  let [number, digest]: [number, Buffer] = [0, Buffer.alloc(0)];
  while (number < head.number) {
    const rows = await listAuditCheckpoints(database, number, Math.min(BATCH, head.number - number));
    for (const row of rows) {
      const { tenant_id, entry } = row;
      if (row.number !== number + 1) return [...breaks, { reason: "checkpoint_missing" }];
      if (row.current_digest === null) {
        if (!row.is_tenant_deleted && !row.is_archived) breaks.push({ reason: "entry_missing", tenant_id, entry });
      } else if (!row.current_digest.equals(row.entry_digest))
        breaks.push({ reason: "entry_changed", tenant_id, entry });
      [number, digest] = [row.number, extendDigest(digest, row)];
    }
    if (rows.length === 0) return [...breaks, { reason: "checkpoint_missing" }];
  }
  return digest.equals(head.digest) ? breaks : [...breaks, { reason: "checkpoint_changed" }];
}

/** The digest of all checkpoints up to this one. */
const extendDigest = (digest: Buffer, { number, tenant_id, entry, entry_digest }: AuditCheckpointRow): Buffer =>
  createHash("sha256")
    .update(digest)
    .update(JSON.stringify([number, tenant_id, entry, entry_digest.toString("hex")]))
    .digest();

type NumberedDigest = Pick<AuditHeadRow, "number" | "digest">;

function createHeadSigner(secretKeys: SecretKeys) {
  const keys = new Map(secretKeys.map((key) => [identifyKey(key), key]));
  const [current] = secretKeys;
  const currentKeyId = identifyKey(current);
  const computeMac = (key: Uint8Array, { number, digest }: NumberedDigest) =>
    createHmac("sha256", key).update(`audit head ${number} `).update(digest).digest();
  return {
    currentKeyId,
    sign: (head: NumberedDigest) => ({ ...head, key_id: currentKeyId, mac: computeMac(current, head) }),
    /** Only the head of a new installation, without any checkpoint, has no MAC. */
    isAuthentic(head: AuditHeadRow): boolean {
      if (head.mac === null) return head.number === 0 && head.digest.length === 0;
      const key = keys.get(head.key_id ?? "");
      const expected = key && computeMac(key, head);
      return expected !== undefined && expected.length === head.mac.length && timingSafeEqual(expected, head.mac);
    },
  };
}

const identifyKey = (key: Uint8Array) => createHash("sha256").update("audit").update(key).digest("hex").slice(0, 12);
