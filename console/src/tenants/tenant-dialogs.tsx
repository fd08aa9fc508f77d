// The dialogs of the tenants page. Their forms are generated from the contract; the first key of a new tenant is held
// by its dialog alone.
import type { NewTenant, Tenant, TenantsCreateInput, TenantsCreditInput, TenantsUpdateInput } from "@gesso/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { ManagementDialog } from "../forms/management-dialog.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Dialog, DialogBody, DialogFooter } from "../parts/dialog.tsx";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";
import styles from "./tenants-page.module.css";

export type TenantDialog =
  | { kind: "create" }
  | { kind: "created"; tenant: NewTenant }
  | { kind: "credit" | "edit" | "suspend" | "resume"; tenant: Tenant };

type TenantDialogsProps = { dialog: TenantDialog; onChange(dialog: TenantDialog | undefined): void };

const words = text.tenants;
const WITHOUT_ID = ["tenant_id"];

export function TenantDialogs({ dialog, onChange }: TenantDialogsProps) {
  const queryClient = useQueryClient();
  const refresh = () => void queryClient.invalidateQueries({ queryKey: ["tenants"] });
  const close = () => onChange(undefined);
  const done = () => {
    refresh();
    close();
  };
  switch (dialog.kind) {
    case "create":
      return (
        <ManagementDialog
          operation="tenants.create"
          title={words.addTitle}
          action={words.add}
          send={async (values) => client.tenants.create(values as TenantsCreateInput)}
          onSent={(tenant) => {
            refresh();
            onChange({ kind: "created", tenant });
          }}
          onClose={close}
        >
          <p>{words.addWhy}</p>
        </ManagementDialog>
      );
    case "created":
      return <OwnerKeyDialog ownerKey={dialog.tenant.owner_key.key} onClose={close} />;
    case "credit":
      return (
        <ManagementDialog
          operation="tenants.credit"
          title={words.creditTitle(dialog.tenant.name)}
          action={words.creditAction}
          without={WITHOUT_ID}
          isUnfolded
          send={async (values) => client.tenants.credit(dialog.tenant.id, values as TenantsCreditInput)}
          onSent={done}
          onClose={close}
        >
          <p>{words.creditWhy}</p>
        </ManagementDialog>
      );
    case "edit":
      return <EditDialog tenant={dialog.tenant} onDone={done} onClose={close} />;
    case "suspend":
    case "resume":
      return <SuspendDialog tenant={dialog.tenant} onDone={done} onClose={close} />;
  }
}

type OneTenantProps = { tenant: Tenant; onDone(): void; onClose(): void };

function EditDialog({ tenant, onDone, onClose }: OneTenantProps) {
  const { name, weight, limits, retention_days, archive_after_days } = tenant;
  return (
    <ManagementDialog
      operation="tenants.update"
      title={words.editTitle(name)}
      action={words.save}
      initial={{
        ...{ name, weight, limits },
        ...(retention_days !== null && { retention_days }),
        ...(archive_after_days !== null && { archive_after_days }),
      }}
      without={[...WITHOUT_ID, "suspended"]}
      isUnfolded
      send={async (values) => client.tenants.update(tenant.id, values as TenantsUpdateInput)}
      onSent={onDone}
      onClose={onClose}
    />
  );
}

function SuspendDialog({ tenant, onDone, onClose }: OneTenantProps) {
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => client.tenants.update(tenant.id, { suspended: !tenant.suspended }),
    onSuccess: onDone,
  });
  return (
    <ConfirmDialog
      title={tenant.suspended ? words.resumeTitle(tenant.name) : words.suspendTitle(tenant.name)}
      keep={tenant.suspended ? words.keepSuspended : words.keep}
      action={tenant.suspended ? words.resume : words.suspend}
      isSending={isPending}
      error={error}
      onConfirm={() => mutate()}
      onClose={onClose}
    >
      <p>{tenant.suspended ? words.resumeWhy : words.suspendWhy}</p>
    </ConfirmDialog>
  );
}

function OwnerKeyDialog({ ownerKey, onClose }: { ownerKey: string | null; onClose(): void }) {
  return (
    <Dialog title={words.ownerKeyTitle} isWide isDismissable={false} onClose={onClose}>
      <DialogBody>
        {ownerKey === null ? (
          <Notice kind="warn" title={words.ownerKeyGone} />
        ) : (
          <>
            <p>{words.ownerKeyWhy}</p>
            <div className={styles.secret}>
              <code className="mono">{ownerKey}</code>
              <CopyButton value={ownerKey} label={text.common.copy} />
            </div>
          </>
        )}
      </DialogBody>
      <DialogFooter>
        <Button kind="primary" onClick={onClose}>
          {words.done}
        </Button>
      </DialogFooter>
    </Dialog>
  );
}
