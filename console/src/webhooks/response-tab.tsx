// What the receiver returned to one attempt, as text.
import type { WebhookDeliveryDetails } from "@gesso/client";
import { text } from "../text/text.ts";
import styles from "./delivery.module.css";
import { ExactBody } from "./exact-body.tsx";
import { FailureNotice } from "./failure-notice.tsx";

const words = text.webhooks;

type ResponseTabProps = {
  delivery: WebhookDeliveryDetails;
  attempt: WebhookDeliveryDetails["log"][number] | undefined;
};

export function ResponseTab({ delivery, attempt }: ResponseTabProps) {
  if (!attempt) return <p className={styles.caption}>{words.nextNow}</p>;
  return (
    <>
      <p className={styles.caption}>
        {words.responseOf(attempt.attempt)} · {attempt.status ?? words.noResponse}
        {attempt.response && ` · ${words.responseCut}`}
      </p>
      {attempt.response ? (
        <ExactBody body={attempt.response} label={words.responseOf(attempt.attempt)} />
      ) : (
        attempt.status !== null && <p className={styles.caption}>{words.responseEmpty}</p>
      )}
      <FailureNotice delivery={delivery} />
    </>
  );
}
