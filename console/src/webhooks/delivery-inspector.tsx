// A delivery: every attempt, the exact request and response, and a button that sends the same bytes again.
import type { WebhookDeliveryDetails } from "@gesso/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RefreshCw } from "lucide-react";
import { useEffect, useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { client } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import { AttemptTabs } from "./attempt-tabs.tsx";
import styles from "./delivery.module.css";
import { curlCommand } from "./delivery-facts.ts";
import { DeliveryState } from "./delivery-state.tsx";
import { endpointName } from "./endpoint-name.ts";
import { ExactBody } from "./exact-body.tsx";
import { FailureNotice } from "./failure-notice.tsx";
import { RequestTab } from "./request-tab.tsx";
import { deliveryQuery, endpointsQuery } from "./webhook-queries.ts";

const words = text.webhooks;
const ID_LENGTH = 8;
const TABS = ["request", "response", "verify"] as const;

export function DeliveryInspector({ deliveryId, now }: { deliveryId: string; now: number }) {
  const { data: delivery, error, refetch } = useQuery(deliveryQuery(deliveryId));
  const [chosen, setChosen] = useState<number>();
  const resend = useResend(deliveryId);
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!delivery) return <div className={styles.loading} aria-busy="true" />;
  const attempt = delivery.log.find((each) => each.attempt === chosen) ?? delivery.log.at(-1);
  return (
    <section className={styles.inspector} aria-label={words.details}>
      <header className={styles.lead}>
        <div className={styles.titleRow}>
          <h2>{delivery.type}</h2>
          <DeliveryState delivery={delivery} />
          <span className={styles.grow} />
          {delivery.body !== null && <CopyButton value={curlCommand(delivery)} label={words.curl} />}
          <Button kind="primary" size="s" aria-disabled={resend.isPending} onClick={() => resend.mutate()}>
            <Icon of={RefreshCw} size="s" />
            {words.sendAgain}
          </Button>
        </div>
        <DeliveryFacts delivery={delivery} />
      </header>
      {resend.error && <ErrorNotice error={resend.error} />}
      <AttemptTabs {...{ delivery, now }} selected={attempt?.attempt} onSelect={setChosen} />
      <Tabs className={styles.tabs ?? ""}>
        <TabList className={styles.tabList ?? ""} aria-label={words.details}>
          {TABS.map((id) => (
            <Tab key={id} id={id} className={styles.tab ?? ""}>
              {words.tabs[id]}
            </Tab>
          ))}
        </TabList>
        <TabPanel id="request" className={styles.pane ?? ""}>
          <RequestTab delivery={delivery} attempt={attempt?.attempt ?? 1} />
        </TabPanel>
        <TabPanel id="response" className={styles.pane ?? ""}>
          <ResponseTab delivery={delivery} attempt={attempt} />
        </TabPanel>
        <TabPanel id="verify" className={styles.pane ?? ""}>
          <VerifyTab delivery={delivery} />
        </TabPanel>
      </Tabs>
    </section>
  );
}

/** `evt_` and the last characters, which differ. The whole ID is among the headers. */
const shortEventId = (id: string) => `evt_…${id.slice(-ID_LENGTH)}`;

function DeliveryFacts({ delivery }: { delivery: WebhookDeliveryDetails }) {
  return (
    <p className={styles.facts}>
      {words.to(endpointName(delivery.url))}
      {delivery.run_id && (
        <>
          {" · "}
          {words.aboutRun}{" "}
          <Link to="/runs/$runId" params={{ runId: delivery.run_id }} className={styles.link}>
            {delivery.run_id.slice(-ID_LENGTH)}
          </Link>
        </>
      )}
      {" · "}
      <Link to="/deliveries/$deliveryId" params={{ deliveryId: delivery.id }} className={styles.link}>
        {shortEventId(delivery.event_id)}
      </Link>
    </p>
  );
}

/** Sends the delivery again, and reads it until the new attempt is there. `R` does the same. */
function useResend(deliveryId: string) {
  const queryClient = useQueryClient();
  const resend = useMutation({
    mutationFn: async () => client.webhooks.deliveries.redeliver(deliveryId),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["webhooks"] }),
  });
  const { mutate } = resend;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "r" && !isTyping(event)) mutate();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [mutate]);
  return resend;
}

/** Whether a key belongs to a field, a dialog or the browser. */
export const isTyping = ({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  ctrlKey ||
  metaKey ||
  altKey ||
  (target instanceof Element && target.closest("input, textarea, select, [role=dialog], [role=menu]") !== null);

const responseTabWords = text.webhooks;

type ResponseTabProps = {
  delivery: WebhookDeliveryDetails;
  attempt: WebhookDeliveryDetails["log"][number] | undefined;
};

/** What the receiver returned to one attempt, as text. */
function ResponseTab({ delivery, attempt }: ResponseTabProps) {
  if (!attempt) return <p className={styles.caption}>{responseTabWords.nextNow}</p>;
  return (
    <>
      <p className={styles.caption}>
        {responseTabWords.responseOf(attempt.attempt)} · {attempt.status ?? responseTabWords.noResponse}
        {attempt.response && ` · ${responseTabWords.responseCut}`}
      </p>
      {attempt.response ? (
        <ExactBody body={attempt.response} label={responseTabWords.responseOf(attempt.attempt)} />
      ) : (
        attempt.status !== null && <p className={styles.caption}>{responseTabWords.responseEmpty}</p>
      )}
      <FailureNotice delivery={delivery} />
    </>
  );
}

const verifyTabWords = text.webhooks;
const SAMPLE = `import { unwrap } from "@gesso/client/webhooks";

// body: the raw text of the request, before any parsing. secret: the signing secret of the endpoint
const event = await unwrap(body, request.headers, secret);`;

/** How the receiver checks that a message comes from Gesso. */
function VerifyTab({ delivery }: { delivery: WebhookDeliveryDetails }) {
  const { data: endpoints } = useQuery(endpointsQuery);
  const keysUrl = endpoints?.find(({ id }) => id === delivery.webhook_id)?.public_keys_url;
  return (
    <>
      <p className={styles.caption}>{verifyTabWords.verifyWhy}</p>
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
          {verifyTabWords.verifyKeys} <span className="mono">{keysUrl}</span>
        </p>
      )}
    </>
  );
}
