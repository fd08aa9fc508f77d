// How the receiver checks that a message comes from Gesso.
import type { WebhookDeliveryDetails } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { CopyButton } from "../parts/copy-button.tsx";
import { text } from "../text/text.ts";
import styles from "./delivery.module.css";
import { endpointsQuery } from "./webhook-queries.ts";

const words = text.webhooks;
const SAMPLE = `import { unwrap } from "@gesso/client/webhooks";

// body: the raw text of the request, before any parsing. secret: the signing secret of the endpoint
const event = await unwrap(body, request.headers, secret);`;

export function VerifyTab({ delivery }: { delivery: WebhookDeliveryDetails }) {
  const { data: endpoints } = useQuery(endpointsQuery);
  const keysUrl = endpoints?.find(({ id }) => id === delivery.webhook_id)?.public_keys_url;
  return (
    <>
      <p className={styles.caption}>{words.verifyWhy}</p>
      <div>
        <div className={styles.bodyHead}>
          <span className={styles.grow}>TypeScript</span>
          <CopyButton value={SAMPLE} label={text.common.copy} isIconOnly />
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reachable by keyboard */}
        <pre className={styles.code} tabIndex={0}>
          {SAMPLE}
        </pre>
      </div>
      {keysUrl && (
        <p className={styles.caption}>
          {words.verifyKeys} <span className="mono">{keysUrl}</span>
        </p>
      )}
    </>
  );
}
