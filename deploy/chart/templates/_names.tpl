{{/* Names and labels of all objects. */}}
{{- define "gesso.name" -}}
{{- if contains "gesso" .Release.Name }}{{ .Release.Name | trunc 30 | trimSuffix "-" }}{{ else }}{{ printf "%s-gesso" .Release.Name | trunc 30 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "gesso.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* The part of worker names that changes with every image: one Service and one URL per version. */}}
{{- define "gesso.build" -}}
{{- $digest := .Values.image.digest | trimPrefix "sha256:" | trunc 12 -}}
{{- .Values.worker.buildId | default $digest | default .Values.image.tag | default .Chart.AppVersion | lower | replace "." "-" | replace "_" "-" | replace "+" "-" | trunc 24 | trimAll "-" }}
{{- end }}
{{- define "gesso.worker.name" -}}{{ include "gesso.name" . }}-worker-{{ include "gesso.build" . }}{{- end }}

{{- define "gesso.selector" -}}
app.kubernetes.io/name: gesso
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "gesso.labels" -}}
{{ include "gesso.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}
