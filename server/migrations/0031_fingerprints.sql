-- expand: small thumbnails have the fingerprint of their image, so that copies without metadata are found

alter table assets add column fingerprint bit(128);
