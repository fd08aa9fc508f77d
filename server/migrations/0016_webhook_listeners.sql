-- Programs on somebody's own machine that are told of events, and pass them on to an address that only they can reach. They
-- read the log themselves; what they did with a message is in the log of deliveries, under the listener's id.
create table webhook_listeners (
  listener_id uuid primary key,
  tenant_id uuid not null,
  name text not null,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
create index webhook_listeners_by_tenant on webhook_listeners (tenant_id, seen_at);
