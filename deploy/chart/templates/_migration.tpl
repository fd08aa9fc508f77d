{{- define "gesso.migration.template" -}}
{{- $arguments := dict "root" . "component" "migrate" "values" (dict "resources" (dict "requests" (dict "cpu" "100m" "memory" "128Mi") "limits" (dict "memory" "512Mi"))) "grace" 60 -}}
metadata:
  labels: {{ include "gesso.labels" $arguments | nindent 4 }}
spec:
  restartPolicy: OnFailure
  {{- include "gesso.pod.common" $arguments | nindent 2 }}
  containers:
    - name: migrate
      {{- include "gesso.container.common" $arguments | nindent 6 }}
      env:
        {{- include "gesso.secret.env" (dict "root" . "secret" (include "gesso.secret.name" .) "keys" (list "DATABASE_URL")) | nindent 8 }}
        {{- with .Values.migration.existingSecret }}
        {{- include "gesso.secret.env" (dict "root" $ "secret" . "keys" (list "MIGRATION_DATABASE_URL")) | nindent 8 }}
        {{- end }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- include "gesso.secret.mount" (dict "root" . "name" "secrets" "secret" (include "gesso.secret.name" .)) | nindent 8 }}
        {{- with .Values.migration.existingSecret }}
        {{- include "gesso.secret.mount" (dict "root" $ "name" "owner" "secret" .) | nindent 8 }}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: { sizeLimit: 64Mi }
    {{- include "gesso.secret.volume" (dict "root" . "name" "secrets" "secret" (include "gesso.secret.name" .) "keys" (list "DATABASE_URL")) | nindent 4 }}
    {{- with .Values.migration.existingSecret }}
    {{- include "gesso.secret.volume" (dict "root" $ "name" "owner" "secret" . "keys" (list "MIGRATION_DATABASE_URL")) | nindent 4 }}
    {{- end }}
{{- end }}
