-- expand: the death of a worker counts once for each run, whoever counts it

-- The processes whose deaths are counted. The one that counts a death can die before it has noted that it did.
alter table suspect_runs add column processes text[] not null default '{}';
