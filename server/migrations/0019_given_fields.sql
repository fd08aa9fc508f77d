-- expand: remembers which input fields the caller set. The other fields of `inputs` are defaults. Null for runs that
-- were accepted before, and for uploads.
alter table runs add column given_fields text[];
