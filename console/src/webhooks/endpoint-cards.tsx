// The endpoints side by side, with the dialogs of their actions.
import type { Webhook } from "@gesso/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { text } from "../text/text.ts";
import { type EndpointAction, EndpointCard } from "./endpoint-card.tsx";
import type { WebhookDialog } from "./webhook-dialogs.tsx";
import styles from "./webhooks-page.module.css";

type EndpointCardsProps = {
  endpoints: readonly Webhook[];
  selected: string | undefined;
  now: number;
  onSelect(id: string | undefined): void;
  onDialog(dialog: WebhookDialog): void;
};

export function EndpointCards({ endpoints, selected, now, onSelect, onDialog }: EndpointCardsProps) {
  const queryClient = useQueryClient();
  const { mutate, error } = useMutation({
    mutationFn: async ({ id, enabled }: { id: string; enabled: boolean }) => client.webhooks.update(id, { enabled }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["webhooks"] }),
  });
  const act = (endpoint: Webhook, action: EndpointAction) => {
    if (action === "enable" || action === "disable") mutate({ id: endpoint.id, enabled: action === "enable" });
    else onDialog({ kind: action, endpoint });
  };
  return (
    <>
      {error && <ErrorNotice error={error} />}
      <ul className={styles.endpoints} aria-label={text.webhooks.endpoints}>
        {endpoints.map((endpoint) => (
          <EndpointCard
            key={endpoint.id}
            {...{ endpoint, now }}
            isSelected={endpoint.id === selected}
            onSelect={() => onSelect(endpoint.id === selected ? undefined : endpoint.id)}
            onAction={(action) => act(endpoint, action)}
          />
        ))}
      </ul>
    </>
  );
}
