-- expand: when a provider refused an input that the imported schema allows

-- The first refusal since the model was imported. Null: none. The provider may have changed the model.
alter table imported_models add column refused_at timestamptz;
