-- expand: the trace that a run belongs to, outcomes that operators settle, and parts that operators pause

-- Null unless the request was traced. As in the header `traceparent` of W3C Trace Context.
alter table runs add column traceparent text;

-- What the provider charged for an attempt whose outcome was unknown, as an operator found out, in micro-dollars.
alter table attempts add column settled_charge bigint;
alter table attempts add column settled_at timestamptz;

-- A correction moves the difference between that charge and the recorded waste.
alter table transfers drop constraint transfers_check;
alter table transfers add constraint transfers_check check ((kind, from_account, to_account) in (
  ('reserve', 'available', 'reserved'), ('reserve', 'credit', 'reserved'),
  ('settle', 'reserved', 'spent'), ('settle', 'credit', 'spent'),
  ('release', 'reserved', 'available'), ('release', 'reserved', 'credit'),
  ('waste', 'outside', 'waste'), ('correction', 'outside', 'waste'), ('correction', 'waste', 'outside'),
  ('topup', 'outside', 'available'), ('topup', 'available', 'outside'))) not valid;
alter table transfers validate constraint transfers_check;

-- Providers, tenants and duties that start nothing until an operator resumes them.
create table pauses (
  kind text not null check (kind in ('provider', 'tenant', 'duty')),
  name text not null,
  paused_at timestamptz not null default now(),
  paused_by text not null,
  primary key (kind, name)
);
