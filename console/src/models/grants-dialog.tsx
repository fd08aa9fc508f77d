// Who can use a custom model in addition to those who see it: add and remove users and tenants.
import type { Model, ModelGrant, ModelsGrantsCreateInput } from "@gesso/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { client } from "../api/client.ts";
import { modelGrantsQuery } from "../api/models.ts";
import { identityQuery } from "../api/queries.ts";
import { formatDate } from "../format/time.ts";
import { fieldErrorsOf } from "../forms/field-errors.ts";
import type { FormValues } from "../forms/form-values.ts";
import { ManagementFields } from "../forms/management-fields.tsx";
import { Button } from "../parts/button.tsx";
import { Dialog, DialogBody, DialogFooter } from "../parts/dialog.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { text } from "../text/text.ts";
import styles from "./models-page.module.css";

const words = text.models.custom;

type GrantsDialogProps = { model: Model; onClose(): void };

export function GrantsDialog({ model, onClose }: GrantsDialogProps) {
  const queryClient = useQueryClient();
  const query = modelGrantsQuery(model.model_id);
  const { data: grants, error } = useQuery(query);
  const [values, setValues] = useState<FormValues>({});
  const refresh = () => void queryClient.invalidateQueries({ queryKey: query.queryKey });
  const adding = useMutation({
    mutationFn: async () => client.models.grants.create(model.model_id, values as ModelsGrantsCreateInput),
    onSuccess: () => {
      setValues({});
      refresh();
    },
  });
  const removing = useMutation({
    mutationFn: async ({ tenant_id, user_id }: ModelGrant) =>
      client.models.grants.delete(model.model_id, { tenant_id, ...(user_id !== null && { user_id }) }),
    onSuccess: refresh,
  });
  const errors = fieldErrorsOf(adding.error);
  const failure = error ?? removing.error ?? (errors.size === 0 ? adding.error : null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!adding.isPending) adding.mutate();
  };
  return (
    <Dialog title={words.grantsTitle(model.name)} isWide onClose={onClose}>
      <DialogBody>
        <p>{words.grantsHint}</p>
        {failure && <ErrorNotice error={failure} />}
        {grants?.length === 0 && <p className={styles.quiet}>{words.noGrants}</p>}
        <ul className={styles.grants}>
          {grants?.map((grant) => (
            <GrantRow key={grant.grant_id} grant={grant} onRemove={() => removing.mutate(grant)} />
          ))}
        </ul>
        <form onSubmit={submit} noValidate className={styles.grantForm}>
          <ManagementFields operation="models.grants.create" isUnfolded {...{ values, errors }} onChange={setValues} />
          <Button type="submit" aria-disabled={adding.isPending}>
            {words.addGrant}
          </Button>
        </form>
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose}>{text.common.close}</Button>
      </DialogFooter>
    </Dialog>
  );
}

function GrantRow({ grant, onRemove }: { grant: ModelGrant; onRemove(): void }) {
  const { data: identity } = useQuery(identityQuery);
  const isOwnTenant = grant.tenant_id === identity?.tenant.id;
  const tenant = isOwnTenant ? identity.tenant.name : grant.tenant_id;
  const who =
    grant.user_id === null
      ? words.wholeTenant(tenant)
      : isOwnTenant
        ? grant.user_id
        : words.userOf(grant.user_id, tenant);
  return (
    <li>
      <span>{who}</span>
      <span className={styles.quiet}>{words.since(formatDate(grant.created_at))}</span>
      <Button kind="quiet" size="s" label={words.removeGrant(who)} onClick={onRemove}>
        {text.common.remove}
      </Button>
    </li>
  );
}
