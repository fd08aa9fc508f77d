// The request as it was sent: the headers that are known, and the body byte for byte.
import type { WebhookDeliveryDetails } from "@gesso/client";
import { useState } from "react";
import { CopyButton } from "../parts/copy-button.tsx";
import { Notice } from "../parts/notice.tsx";
import { Segments } from "../parts/segments.tsx";
import { text } from "../text/text.ts";
import styles from "./delivery.module.css";
import { knownHeaders } from "./delivery-facts.ts";
import { ExactBody } from "./exact-body.tsx";
import { FailureNotice } from "./failure-notice.tsx";

const words = text.webhooks;
const byteLength = (body: string) => new TextEncoder().encode(body).length;

export function RequestTab({ delivery, attempt }: { delivery: WebhookDeliveryDetails; attempt: number }) {
  const { body } = delivery;
  return (
    <>
      <dl className={styles.headers}>
        {knownHeaders(delivery, attempt).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p className={styles.caption}>{words.headersNote}</p>
      {body === null ? <Notice kind="info" title={words.bodyGone} /> : <BodyView body={body} />}
      <FailureNotice delivery={delivery} />
    </>
  );
}

const BODY_VIEWS = ["exact", "formatted"] as const;

function BodyView({ body }: { body: string }) {
  const [view, setView] = useState<(typeof BODY_VIEWS)[number]>("exact");
  const label = view === "exact" ? words.bodyExact(byteLength(body)) : words.bodyFormatted;
  return (
    <div>
      <div className={styles.bodyHead}>
        <span className={styles.grow}>{label}</span>
        <Segments
          label={words.bodyView}
          isSmall
          options={BODY_VIEWS.map((id) => ({ id, label: words.bodyViews[id] }))}
          value={view}
          onChange={(id) => setView(id === "formatted" ? "formatted" : "exact")}
        />
        <CopyButton value={body} label={words.copyBody} isIconOnly />
      </div>
      <ExactBody body={view === "exact" ? body : formatJson(body)} label={label} />
    </div>
  );
}

function formatJson(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
