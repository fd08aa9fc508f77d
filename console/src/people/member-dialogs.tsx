// The dialogs of the members: add, edit and remove.
import type { Member, MembersAddInput, MembersUpdateInput } from "@gesso/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { membersQuery } from "../api/access.ts";
import { client } from "../api/client.ts";
import { ManagementDialog } from "../forms/management-dialog.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { text } from "../text/text.ts";

export type MemberDialog = { kind: "add" } | { kind: "edit"; member: Member } | { kind: "remove"; member: Member };

type MemberDialogsProps = { dialog: MemberDialog; onClose(): void };

export function MemberDialogs({ dialog, onClose }: MemberDialogsProps) {
  const queryClient = useQueryClient();
  const onSent = () => {
    void queryClient.invalidateQueries({ queryKey: membersQuery.queryKey });
    onClose();
  };
  switch (dialog.kind) {
    case "add":
      return (
        <ManagementDialog
          operation="members.add"
          title={text.people.addTitle}
          action={text.people.add}
          isUnfolded
          send={async (values) => client.members.add(values as MembersAddInput)}
          {...{ onSent, onClose }}
        >
          <p>{text.people.addHint}</p>
        </ManagementDialog>
      );
    case "edit":
      return <EditMember member={dialog.member} onSent={onSent} onClose={onClose} />;
    case "remove":
      return <RemoveMember member={dialog.member} onSent={onSent} onClose={onClose} />;
  }
}

type OneMemberProps = { member: Member; onSent(): void; onClose(): void };

function EditMember({ member, onSent, onClose }: OneMemberProps) {
  const { user_id, role, role_source, name, email } = member;
  const before = { role, ...(name !== null && { name }), ...(email !== null && { email }) };
  return (
    <ManagementDialog
      operation="members.update"
      title={text.people.editTitle(name ?? user_id)}
      action={text.people.save}
      isUnfolded
      initial={before}
      // An emptied field is removed from the member.
      send={async (values) =>
        client.members.update(user_id, { name: null, email: null, ...values } as MembersUpdateInput)
      }
      {...{ onSent, onClose }}
    >
      {role_source === "identity_provider" && <p>{text.people.mappedHint}</p>}
    </ManagementDialog>
  );
}

function RemoveMember({ member, onSent, onClose }: OneMemberProps) {
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => client.members.remove(member.user_id),
    onSuccess: onSent,
  });
  return (
    <ConfirmDialog
      title={text.people.removeTitle(member.name ?? member.user_id)}
      keep={text.people.keep}
      action={text.people.removeAction}
      isSending={isPending}
      error={error}
      onConfirm={() => mutate()}
      onClose={onClose}
    >
      <p>{text.people.removeWhy}</p>
    </ConfirmDialog>
  );
}
