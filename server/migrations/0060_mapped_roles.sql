-- expand: the claims of an identity provider can decide the role of a member

alter table members
  -- Whether the role follows from the claims of the person's last sign-in or token (`roles` of an entry of OIDC_ISSUERS).
  -- Such a member who was removed for want of a role comes back with the next claims that give one.
  add column is_role_mapped boolean not null default false,
  -- When the role was last decided: by an owner, or by a token that was issued then. Claims that are older have no
  -- effect. Null: before the first decision since this migration.
  add column role_set_at timestamptz;
