// The one place where things are put together.
import { hkdfSync } from "node:crypto";
import { v7 } from "uuid";
import { createCredentials } from "./access/credentials.ts";
import { createIssuers } from "./access/issuers.ts";
import { createKeyRing } from "./access/key-ring.ts";
import { createMinted } from "./access/minted.ts";
import type { Config } from "./config.ts";
import { connect } from "./db/connect.ts";
import { createNotifier } from "./db/notify.ts";
import { connectIngress } from "./engine/ingress.ts";
import { createAdmission } from "./http/admission.ts";
import { callbackPath, createCallbackSigner } from "./http/callbacks.ts";
import { createDecoders } from "./media/decoders.ts";
import { imageGate } from "./media/inspect.ts";
import { openFetcher } from "./media/open-fetcher.ts";
import { openStorage } from "./media/open-storage.ts";
import "./media/readers.ts";
import { createSender } from "./media/send.ts";
import { assetUrls } from "./media/sign.ts";
import { createLog } from "./observe/log.ts";
import { createMoments } from "./observe/moments.ts";
import { loraNamesOf } from "./runs/custom-models.ts";
import { createHealth } from "./runs/health.ts";
import type { House } from "./runs/house.ts";
import { limitsOf } from "./runs/limits.ts";
import { createCursorSigner } from "./runs/list.ts";
import { createDoor } from "./webhooks/door.ts";
import { openOffice } from "./webhooks/open-office.ts";

/** Nobody outside reaches this machine under its own private names. */
const isPublic = (url: string) =>
  !/^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[)/.test(new URL(url).hostname);

export function createWorld(config: Config, role: string) {
  // One secret in the settings, one key per purpose: none of them can stand in for another.
  const keyFor = (purpose: string) => new Uint8Array(hkdfSync("sha256", config.GESSO_SECRET, "gesso", purpose, 32));
  const db = connect(config);
  const storage = openStorage(config);
  const ingress = connectIngress(config.RESTATE_INGRESS_URL.split(","));
  const fetcher = openFetcher(config, config.PUBLIC_URL);
  const urls = assetUrls(keyFor("assets"), config.PUBLIC_URL);
  const callbacks = createCallbackSigner(keyFor("callbacks"));
  const sender = createSender();
  const keys = createKeyRing(db);
  const minted = createMinted({ secret: keyFor("tokens"), keys, clock: Date.now });
  const issuers = createIssuers(config.OIDC_ISSUERS, { db, get: (url, init) => fetch(url, init), clock: Date.now });
  /** Whatever changes a key or a person makes both be looked up anew. */
  const forget = () => {
    keys.forget();
    issuers.forget();
  };
  const log = createLog(config, role);
  const { DECODERS: count, DECODER_MEGABYTES: megabytes, DECODER_SECONDS: seconds } = config;
  const decoders = createDecoders({ count, megabytes, seconds, log });

  const office = openOffice(config, { db, keyFor, assetUrl: urls.sign, log });

  const house: House = {
    db,
    storage,
    providers: config.providers,
    checkUrl: fetcher.checkUrl,
    fetchBytes: fetcher.fetchBytes,
    images: imageGate(decoders),
    sendToProvider: sender.send,
    isReachable: config.PUBLIC_URL_IS_REACHABLE ?? isPublic(config.PUBLIC_URL),
    assetUrl: urls.sign,
    isSigned: urls.verify,
    ownAsset: (url) => {
      const [assetId = "", signature = ""] = url.startsWith(`${config.PUBLIC_URL}/files/`)
        ? url.split("/").slice(-2)
        : [];
      return urls.verify(assetId, signature) ? assetId : undefined;
    },
    callbackUrl: (provider, id) => `${config.PUBLIC_URL}${callbackPath({ provider, ...id }, callbacks)}`,
    loraNames: loraNamesOf(config),
    webhooks: createDoor(office),
    health: createHealth(db, { failures: config.BREAKER_FAILURES, seconds: config.BREAKER_SECONDS }),
    ring: ingress.ring,
    queued: createNotifier(db, "gesso_queued"),
    ended: createNotifier(db, "gesso_ended"),
    newId: () => v7(),
    slots: config.WORKER_SLOTS,
    limits: limitsOf(config),
    eventDays: config.EVENT_DAYS,
    orphanShare: config.ORPHAN_SHARE,
    moment: createMoments(config),
    log,
  };

  return {
    house,
    office,
    ingress,
    callbacks,
    credentials: createCredentials({ keys, minted, issuers }),
    access: { system: db, keys: { ...keys, forget }, minted, newId: house.newId },
    admission: createAdmission(db, config),
    cursors: createCursorSigner(keyFor("cursors"), Date.now),
    async close() {
      decoders.close();
      await Promise.all([ingress.close(), sender.close(), office.poster.close(), db.close()]);
    },
  };
}
