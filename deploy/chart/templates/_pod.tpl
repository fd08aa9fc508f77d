{{/* What all pods share. Argument: root, component, values (of the component), grace, preStop. */}}
{{- define "gesso.pod.common" -}}
serviceAccountName: {{ include "gesso.name" .root }}
automountServiceAccountToken: false
# Variables of Services, such as GESSO_WORKER_PORT, would look like settings.
enableServiceLinks: false
terminationGracePeriodSeconds: {{ .grace }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  {{- range tuple "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - topologyKey: {{ . }}
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "gesso.selector" $ | nindent 8 }}
  {{- end }}
{{- end }}

{{- define "gesso.container.common" -}}
image: {{ include "gesso.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: ["--role", {{ .component | quote }}]
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- with .values.resources }}
resources: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .preStop }}
lifecycle:
  preStop:
    exec: { command: [sleep, {{ . | quote }}] }
{{- end }}
{{- end }}

{{/* Liveness restarts a process that does not respond at all; readiness follows the database. */}}
{{- define "gesso.probes" -}}
# Migrations of another process can take minutes: the pod waits for them before it listens.
startupProbe:
  httpGet: { path: /livez, port: {{ .port }} }
  periodSeconds: 2
  failureThreshold: 180
livenessProbe:
  httpGet: { path: /livez, port: {{ .port }} }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: {{ .ready }}, port: {{ .port }} }
  periodSeconds: 5
  timeoutSeconds: 4
  failureThreshold: 2
{{- end }}
