-- expand: the keys of a tree are found by the keys above them
create index concurrently api_keys_by_holder on api_keys using gin (holder_ids);
