-- expand: a file that is no image and no video has neither width nor height

alter table assets alter column width drop not null;
alter table assets alter column height drop not null;
