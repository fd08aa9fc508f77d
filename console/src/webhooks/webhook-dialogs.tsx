// The dialogs of the webhooks page. Their forms are generated from the contract; a secret is held by its dialog alone.
import type {
  NewWebhook,
  Webhook,
  WebhookSecret,
  WebhooksCreateInput,
  WebhooksReplayInput,
  WebhooksRotateInput,
  WebhooksSecretRotateInput,
  WebhooksTestInput,
  WebhooksUpdateInput,
} from "@gesso/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { ManagementDialog } from "../forms/management-dialog.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Dialog, DialogBody, DialogFooter } from "../parts/dialog.tsx";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";
import styles from "./delivery.module.css";
import { endpointName } from "./endpoint-name.ts";

export type WebhookDialog =
  | { kind: "create" }
  | { kind: "tenant-secret" }
  | { kind: "test" | "edit" | "rotate" | "replay" | "remove"; endpoint: Webhook }
  | { kind: "secret"; created: NewWebhook | WebhookSecret };

type WebhookDialogsProps = {
  dialog: WebhookDialog;
  onChange(dialog: WebhookDialog | undefined): void;
  /** Called with a delivery that a test has created. */
  onDelivery(deliveryId: string): void;
};

const words = text.webhooks;
/** The page's URL says which endpoint. */
const WITHOUT_ID = ["webhook_id"];

export function WebhookDialogs({ dialog, onChange, onDelivery }: WebhookDialogsProps) {
  const queryClient = useQueryClient();
  const close = () => onChange(undefined);
  const refresh = () => void queryClient.invalidateQueries({ queryKey: ["webhooks"] });
  const showSecret = (created: NewWebhook | WebhookSecret) => {
    refresh();
    onChange({ kind: "secret", created });
  };
  switch (dialog.kind) {
    case "create":
      return (
        <ManagementDialog
          operation="webhooks.create"
          title={words.addTitle}
          action={words.addAction}
          isUnfolded
          send={async (values) => client.webhooks.create(values as WebhooksCreateInput)}
          onSent={showSecret}
          onClose={close}
        >
          <p>{words.addWhy}</p>
        </ManagementDialog>
      );
    case "tenant-secret":
      return (
        <ManagementDialog
          operation="webhooks.secret.rotate"
          title={words.tenantSecretTitle}
          action={words.rotateAction}
          isUnfolded
          send={async (values) => client.webhooks.secret.rotate(values as WebhooksSecretRotateInput)}
          onSent={showSecret}
          onClose={close}
        >
          <p>{words.tenantSecretWhy}</p>
        </ManagementDialog>
      );
    case "secret":
      return <SecretDialog secret={dialog.created.secret} onClose={close} />;
    case "remove":
      return <RemoveDialog endpoint={dialog.endpoint} onClose={close} onRemoved={refresh} />;
    default:
      return (
        <EndpointDialog
          {...{ kind: dialog.kind, endpoint: dialog.endpoint, refresh, showSecret, onDelivery }}
          onClose={close}
        />
      );
  }
}

type EndpointDialogProps = {
  kind: "test" | "edit" | "rotate" | "replay";
  endpoint: Webhook;
  refresh(): void;
  showSecret(created: NewWebhook): void;
  onDelivery(deliveryId: string): void;
  onClose(): void;
};

function EndpointDialog({ kind, endpoint, refresh, showSecret, onDelivery, onClose }: EndpointDialogProps) {
  const shared = { without: WITHOUT_ID, isUnfolded: true, onClose };
  const done = () => {
    refresh();
    onClose();
  };
  const { id, url, events, description } = endpoint;
  switch (kind) {
    case "test":
      return (
        <ManagementDialog
          {...shared}
          operation="webhooks.test"
          title={words.testTitle}
          action={words.testAction}
          send={async (values) => client.webhooks.test(id, values as WebhooksTestInput)}
          onSent={(delivery) => {
            done();
            onDelivery(delivery.id);
          }}
        >
          <p>{words.to(endpointName(url))}</p>
        </ManagementDialog>
      );
    case "edit":
      return (
        <ManagementDialog
          {...shared}
          operation="webhooks.update"
          title={words.editTitle}
          action={words.save}
          initial={{ url, events, ...(description !== null && { description }) }}
          without={[...WITHOUT_ID, "enabled"]}
          send={async (values) => client.webhooks.update(id, values as WebhooksUpdateInput)}
          onSent={done}
        />
      );
    case "rotate":
      return (
        <ManagementDialog
          {...shared}
          operation="webhooks.rotate"
          title={words.rotateTitle}
          action={words.rotateAction}
          send={async (values) => client.webhooks.rotate(id, values as WebhooksRotateInput)}
          onSent={showSecret}
        >
          <p>{words.rotateWhy}</p>
        </ManagementDialog>
      );
    case "replay":
      return (
        <ManagementDialog
          {...shared}
          operation="webhooks.replay"
          title={words.replayTitle}
          action={words.replayAction}
          send={async (values) => client.webhooks.replay(id, values as WebhooksReplayInput)}
          onSent={done}
        >
          <p>{words.replayWhy}</p>
        </ManagementDialog>
      );
  }
}

type RemoveDialogProps = { endpoint: Webhook; onClose(): void; onRemoved(): void };

function RemoveDialog({ endpoint, onClose, onRemoved }: RemoveDialogProps) {
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => client.webhooks.delete(endpoint.id),
    onSuccess: () => {
      onRemoved();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={words.removeTitle(endpointName(endpoint.url))}
      keep={words.keep}
      action={words.remove}
      isSending={isPending}
      error={error}
      onConfirm={() => mutate()}
      onClose={onClose}
    >
      <p>{words.removeWhy}</p>
    </ConfirmDialog>
  );
}

const secretDialogWords = text.webhooks;

/** Shows a signing secret, once. It is in the state of this dialog only, so it is gone when the dialog closes. */
function SecretDialog({ secret, onClose }: { secret: string | null; onClose(): void }) {
  return (
    <Dialog title={secretDialogWords.secretTitle} isWide isDismissable={false} onClose={onClose}>
      <DialogBody>
        {secret === null ? (
          <Notice kind="info" title={secretDialogWords.secretGone} />
        ) : (
          <>
            <p>{secretDialogWords.secretWhy}</p>
            <div className={styles.secret}>
              <code className="mono">{secret}</code>
              <CopyButton value={secret} label={text.common.copy} />
            </div>
          </>
        )}
      </DialogBody>
      <DialogFooter>
        <Button kind="primary" onClick={onClose}>
          {secretDialogWords.secretDone}
        </Button>
      </DialogFooter>
    </Dialog>
  );
}
