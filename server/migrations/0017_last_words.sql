-- Whether a run ends with what became of an attempt. A step that is done again after a crash must know it: an attempt that
-- was given up because nobody could tell is otherwise taken for one that never was, and its job is bought twice.
alter table attempts add column is_last boolean not null default false;
