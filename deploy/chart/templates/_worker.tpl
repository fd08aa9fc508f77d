{{/* The pod template of workers, for a Deployment or a RestateDeployment. */}}
{{- define "gesso.worker.grace" -}}
{{- with .Values.worker }}{{ add .preStopSeconds .drainSeconds .longestRequestSeconds 5 }}{{ end -}}
{{- end }}

{{- define "gesso.worker.template" -}}
{{- $arguments := dict "root" . "component" "worker" "values" .Values.worker "preStop" .Values.worker.preStopSeconds "grace" (include "gesso.worker.grace" .) -}}
{{- $isManaged := .Values.worker.restateDeployment.enabled -}}
metadata:
  labels:
    {{- include "gesso.labels" $arguments | nindent 4 }}
    gesso/build: {{ include "gesso.build" . | quote }}
  annotations:
    gesso/catalogue: {{ .Values.catalogue | sha256sum | trunc 12 | quote }}
    {{- with .Values.worker.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  {{- include "gesso.pod.common" $arguments | nindent 2 }}
  containers:
    - name: worker
      {{- include "gesso.container.common" $arguments | nindent 6 }}
      {{- include "gesso.probes" (dict "port" "health" "ready" "/readyz") | nindent 6 }}
      ports:
        - { name: restate, containerPort: 7789 }
        - { name: health, containerPort: 7788 }
        {{- if .Values.metrics.port }}
        - { name: metrics, containerPort: {{ .Values.metrics.port }} }
        {{- end }}
      env:
        {{- include "gesso.server.env" . | nindent 8 }}
        - { name: WORKER_HOST, value: 0.0.0.0 }
        - { name: WORKER_PORT, value: "7789" }
        - { name: WORKER_DRAIN_SECONDS, value: {{ .Values.worker.drainSeconds | quote }} }
        - { name: SPOOL_DIR, value: /var/lib/gesso/spool }
        - { name: SPOOL_MEGABYTES, value: {{ .Values.worker.spool.megabytes | quote }} }
        {{- if $isManaged }}
        # The operator names the Service of a version after the hash of its pods.
        - name: POD_TEMPLATE_HASH
          valueFrom: { fieldRef: { fieldPath: "metadata.labels['pod-template-hash']" } }
        - name: WORKER_URL
          value: http://{{ include "gesso.name" . }}-worker-$(POD_TEMPLATE_HASH).{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}:9080
        {{- else }}
        - name: WORKER_URL
          value: http://{{ include "gesso.worker.name" . }}.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}:7789
        {{- end }}
      volumeMounts:
        {{- include "gesso.server.mounts" . | nindent 8 }}
        - { name: spool, mountPath: /var/lib/gesso/spool }
  volumes:
    {{- include "gesso.server.volumes" . | nindent 4 }}
    - name: spool
      {{- if or .Values.worker.spool.existingClaim .Values.worker.spool.claim.create }}
      persistentVolumeClaim: { claimName: {{ .Values.worker.spool.existingClaim | default (printf "%s-spool" (include "gesso.name" .)) }} }
      {{- else }}
      emptyDir: { sizeLimit: {{ add .Values.worker.spool.megabytes 512 }}Mi }
      {{- end }}
{{- end }}
