// The numbers of one tenant, and what the operator can do with it. Never its images or prompts.
import type { Tenant } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { text } from "../text/text.ts";
import type { TenantDialog } from "./tenant-dialogs.tsx";
import { TenantNumbers } from "./tenant-numbers.tsx";
import { tenantQuery, tenantUsageQuery } from "./tenant-queries.ts";
import { TenantState } from "./tenant-table.tsx";
import styles from "./tenants-page.module.css";

type TenantPanelProps = { tenantId: string; onDialog(dialog: TenantDialog): void };

const words = text.tenants;

export function TenantPanel({ tenantId, onDialog }: TenantPanelProps) {
  const { data: tenant, error, refetch } = useQuery(tenantQuery(tenantId));
  const usage = useQuery(tenantUsageQuery(tenantId));
  return (
    <section className={styles.details} aria-label={tenant?.name ?? words.pickTitle}>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {tenant && <PanelHead tenant={tenant} onDialog={onDialog} />}
      {usage.error && <ErrorNotice error={usage.error} onRetry={() => void usage.refetch()} />}
      {usage.data && <TenantNumbers usage={usage.data} />}
    </section>
  );
}

function PanelHead({ tenant, onDialog }: { tenant: Tenant; onDialog(dialog: TenantDialog): void }) {
  return (
    <header className={styles.panelHead}>
      <div className={styles.titleRow}>
        <h2>{tenant.name}</h2>
        <TenantState isSuspended={tenant.suspended} />
        <span className={styles.grow} />
        <CopyButton value={tenant.id} label={words.copyId} isIconOnly />
      </div>
      <div className={styles.actions}>
        <Button size="s" kind="primary" onClick={() => onDialog({ kind: "credit", tenant })}>
          {words.credit}
        </Button>
        <Button size="s" onClick={() => onDialog({ kind: "edit", tenant })}>
          {words.edit}
        </Button>
        <Button size="s" onClick={() => onDialog({ kind: tenant.suspended ? "resume" : "suspend", tenant })}>
          {tenant.suspended ? words.resume : words.suspend}
        </Button>
      </div>
    </header>
  );
}
