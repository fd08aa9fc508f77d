-- contract since 0039: rows of new files have no storage key, which programs before 0039 take for files without a row.
-- Such a program deletes them if it still runs a day later. The index has a successor since 0040.
drop index concurrently assets_with_fingerprint;
