-- What a picture said, signed, about where it came from is kept as a file of its own beside the picture, which itself is
-- kept without metadata. It has a row like every file, so whatever ends a file's life ends this one's too.
alter table assets
  -- The picture that it speaks of.
  add column evidence_of uuid,
  -- Of the bytes as they came, which the signature is about; they are not kept.
  add column original_sha256 text;

alter table assets add check ((evidence_of is null) = (original_sha256 is null));
