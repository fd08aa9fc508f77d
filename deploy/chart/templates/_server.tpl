{{/* Environment and volumes of API and worker pods, and of the migration Job. Secrets are files or variables. */}}
{{- define "gesso.secret.env" -}}
{{- $secret := .secret -}}
{{- $files := eq .root.Values.secret.mount "files" -}}
{{- range .keys }}
{{- if $files }}
- { name: {{ . }}_FILE, value: /run/secrets/{{ $secret }}/{{ . }} }
{{- else }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: {{ . }} } }
{{- end }}
{{- end }}
{{- end }}

{{- define "gesso.secret.volume" -}}
{{- if eq .root.Values.secret.mount "files" }}
- name: {{ .name }}
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
    items:
      {{- range .keys }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
{{- end }}
{{- end }}

{{- define "gesso.secret.mount" -}}
{{- if eq .root.Values.secret.mount "files" }}
- { name: {{ .name }}, mountPath: /run/secrets/{{ .secret }}, readOnly: true }
{{- end }}
{{- end }}

{{- define "gesso.secret.name" -}}{{ required "secret.existingSecret is required: a Secret with DATABASE_URL, GESSO_SECRET and RESTATE_IDENTITY_KEYS" .Values.secret.existingSecret }}{{- end }}
{{- define "gesso.fetcher.secret" -}}{{ .Values.fetcher.existingSecret | default (include "gesso.secret.name" .) }}{{- end }}

{{- define "gesso.server.env" -}}
- { name: HOST, value: 0.0.0.0 }
- { name: PORT, value: "7788" }
- { name: PUBLIC_URL, value: {{ required "publicUrl is required" .Values.publicUrl | quote }} }
- { name: TRUSTED_PROXIES, value: {{ required "trustedProxies is required: the addresses of the proxies in front of the API, or none" .Values.trustedProxies | quote }} }
- { name: RESTATE_INGRESS_URL, value: {{ required "restate.ingressUrl is required" .Values.restate.ingressUrl | quote }} }
- { name: RESTATE_ADMIN_URL, value: {{ required "restate.adminUrl is required" .Values.restate.adminUrl | quote }} }
- { name: STORAGE, value: {{ .Values.storage.type }} }
{{- if eq .Values.storage.type "s3" }}
- { name: S3_BUCKET, value: {{ required "storage.s3.bucket is required" .Values.storage.s3.bucket | quote }} }
- { name: S3_REGION, value: {{ .Values.storage.s3.region | quote }} }
{{- with .Values.storage.s3.endpoint }}
- { name: S3_ENDPOINT, value: {{ . | quote }} }
{{- end }}
{{- else }}
- { name: STORAGE_DIR, value: /var/lib/gesso/files }
{{- end }}
{{- if .Values.migration.enabled }}
- { name: MIGRATE_AT_START, value: "false" }
{{- end }}
{{- if .Values.metrics.port }}
- { name: METRICS_PORT, value: {{ .Values.metrics.port | quote }} }
{{- end }}
{{- if .Values.catalogue }}
- { name: GESSO_CONFIG, value: /etc/gesso/gesso.yaml }
{{- end }}
{{- if .Values.fetcher.enabled }}
- { name: FETCHER_URL, value: "http://{{ include "gesso.name" . }}-fetcher:7787" }
{{- include "gesso.secret.env" (dict "root" . "secret" (include "gesso.fetcher.secret" .) "keys" (list "FETCHER_TOKEN")) }}
{{- end }}
{{- include "gesso.secret.env" (dict "root" . "secret" (include "gesso.secret.name" .) "keys" .Values.secret.keys) }}
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}

{{/* The keys of the main Secret that a pod mounts: those of the server, and the token unless it has a Secret of its own. */}}
{{- define "gesso.server.keys" -}}
{{- $keys := .Values.secret.keys -}}
{{- if and .Values.fetcher.enabled (not .Values.fetcher.existingSecret) }}{{ $keys = append $keys "FETCHER_TOKEN" | uniq }}{{ end -}}
{{- toJson $keys -}}
{{- end }}

{{- define "gesso.server.mounts" -}}
- { name: tmp, mountPath: /tmp }
{{- include "gesso.secret.mount" (dict "root" . "name" "secrets" "secret" (include "gesso.secret.name" .)) }}
{{- if and .Values.fetcher.enabled .Values.fetcher.existingSecret }}
{{- include "gesso.secret.mount" (dict "root" . "name" "fetcher-token" "secret" .Values.fetcher.existingSecret) }}
{{- end }}
{{- if .Values.catalogue }}
- { name: catalogue, mountPath: /etc/gesso, readOnly: true }
{{- end }}
{{- if eq .Values.storage.type "disk" }}
- { name: files, mountPath: /var/lib/gesso/files }
{{- end }}
{{- end }}

{{- define "gesso.server.volumes" -}}
- name: tmp
  emptyDir: { sizeLimit: 2Gi }
{{- include "gesso.secret.volume" (dict "root" . "name" "secrets" "secret" (include "gesso.secret.name" .) "keys" (include "gesso.server.keys" . | fromJsonArray)) }}
{{- if and .Values.fetcher.enabled .Values.fetcher.existingSecret }}
{{- include "gesso.secret.volume" (dict "root" . "name" "fetcher-token" "secret" .Values.fetcher.existingSecret "keys" (list "FETCHER_TOKEN")) }}
{{- end }}
{{- if .Values.catalogue }}
- name: catalogue
  configMap: { name: {{ include "gesso.name" . }}-catalogue }
{{- end }}
{{- if eq .Values.storage.type "disk" }}
- name: files
  persistentVolumeClaim:
    claimName: {{ required "storage.disk.existingClaim is required: a claim that all pods can write" .Values.storage.disk.existingClaim }}
{{- end }}
{{- end }}
