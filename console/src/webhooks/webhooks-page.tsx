// Webhooks: endpoints, their deliveries, and beside them the selected delivery byte for byte.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowLeft, Inbox, KeyRound, Plus, Send, Webhook as WebhookIcon } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../parts/button.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { classNames } from "../parts/class-names.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Icon } from "../parts/icon.tsx";
import { Segments } from "../parts/segments.tsx";
import { useNow } from "../parts/use-now.ts";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import { DeliveryInspector, isTyping } from "./delivery-inspector.tsx";
import { DeliveryList } from "./delivery-list.tsx";
import { EndpointCards } from "./endpoint-cards.tsx";
import { type WebhookDialog, WebhookDialogs } from "./webhook-dialogs.tsx";
import { deliveriesQuery, endpointsQuery } from "./webhook-queries.ts";
import styles from "./webhooks-page.module.css";
import { DELIVERY_FILTERS, type DeliveryFilter } from "./webhooks-search.ts";

const route = getRouteApi("/shell/webhooks");
const words = text.webhooks;

export function WebhooksPage() {
  const { status = "all", endpoint, delivery } = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow();
  const [dialog, setDialog] = useState<WebhookDialog>();
  const { data: endpoints, error: endpointsError, refetch } = useQuery(endpointsQuery);
  const list = useInfiniteQuery(deliveriesQuery(status, endpoint));
  const deliveries = list.data?.pages.flatMap((page) => page.data) ?? [];
  const retried = deliveries.filter((each) => each.status === "pending" && each.attempts > 0).length;
  const select = (id: string | undefined) =>
    void navigate({ search: ({ delivery: _, ...old }) => ({ ...old, ...(id && { delivery: id }) }), replace: true });
  useListKeys(deliveries, delivery, select);
  const testTarget = endpoints?.find(({ id }) => id === endpoint) ?? endpoints?.find(({ enabled }) => enabled);
  const isFirst = endpoints?.length === 0 && deliveries.length === 0 && list.isSuccess;
  return (
    <>
      <TopBar title={text.navigation.webhooks}>
        <span className={styles.sub}>{retried > 0 && words.retrying(retried)}</span>
        <span className={styles.grow} />
        <Button kind="quiet" onClick={() => setDialog({ kind: "tenant-secret" })} label={words.tenantSecret} isIconOnly>
          <Icon of={KeyRound} />
        </Button>
        {testTarget && (
          <Button kind="quiet" onClick={() => setDialog({ kind: "test", endpoint: testTarget })}>
            <Icon of={Send} />
            {words.test}
          </Button>
        )}
        <Button kind={isFirst ? "primary" : "plain"} onClick={() => setDialog({ kind: "create" })}>
          <Icon of={Plus} />
          {words.add}
        </Button>
      </TopBar>
      {endpointsError && <ErrorNotice error={endpointsError} onRetry={() => void refetch()} />}
      {endpoints && endpoints.length > 0 && (
        <EndpointCards
          {...{ endpoints, now }}
          selected={endpoint}
          onSelect={(id) =>
            void navigate({ search: ({ endpoint: _, ...old }) => ({ ...old, ...(id && { endpoint: id }) }) })
          }
          onDialog={setDialog}
        />
      )}
      {isFirst ? (
        <FirstEndpoint />
      ) : (
        <div className={classNames(styles.hooks, delivery && styles.open)}>
          <section className={styles.list} aria-label={words.deliveries} aria-busy={list.isPending}>
            <div className={styles.filter}>
              <Segments
                label={words.filter}
                isSmall
                options={DELIVERY_FILTERS.map((id) => ({ id, label: words.filters[id] }))}
                value={status}
                onChange={(id) => void navigate({ search: (old) => ({ ...old, status: id as DeliveryFilter }) })}
              />
            </div>
            {list.error && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
            {deliveries.length > 0 && <DeliveryList {...{ deliveries, now }} selected={delivery} />}
            {list.isSuccess && deliveries.length === 0 && (
              <EmptyState icon={Inbox} title={status === "all" ? words.noneTitle : words.noneMatch}>
                {status === "all" && words.none}
              </EmptyState>
            )}
            {list.hasNextPage && (
              <div className={styles.more}>
                <Button aria-disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                  {words.more}
                </Button>
              </div>
            )}
          </section>
          <aside className={styles.panel}>
            {delivery ? (
              <>
                <Link
                  from="/webhooks"
                  to="/webhooks"
                  search={({ delivery: _, ...old }) => old}
                  className={classNames(buttonClass({ kind: "quiet", size: "s" }), styles.back)}
                >
                  <Icon of={ArrowLeft} size="s" />
                  {words.back}
                </Link>
                <DeliveryInspector key={delivery} deliveryId={delivery} now={now} />
              </>
            ) : (
              <EmptyState icon={WebhookIcon} title={words.details}>
                {words.pick}
              </EmptyState>
            )}
          </aside>
        </div>
      )}
      {dialog && <WebhookDialogs dialog={dialog} onChange={setDialog} onDelivery={select} />}
    </>
  );
}

function FirstEndpoint() {
  return (
    <EmptyState
      icon={WebhookIcon}
      title={words.firstTitle}
      action={
        <div className={styles.local}>
          <p>{words.firstLocal}</p>
          <div className={styles.command}>
            <code className="mono">{words.firstCommand}</code>
            <CopyButton value={words.firstCommand} label={text.common.copy} isIconOnly />
          </div>
        </div>
      }
    >
      {words.first}
    </EmptyState>
  );
}

/** `J` and `K` select the next and the previous delivery. */
function useListKeys(
  deliveries: readonly { id: string }[],
  selected: string | undefined,
  select: (id: string) => void,
): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
      if (step === 0 || isTyping(event)) return;
      const index = deliveries.findIndex(({ id }) => id === selected);
      const next = deliveries[Math.max(0, index + step)];
      if (next) select(next.id);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [deliveries, selected, select]);
}
