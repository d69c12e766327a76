{{- define "pgparley.name" -}}
{{- if contains "pgparley" .Release.Name }}{{ .Release.Name | trunc 45 | trimSuffix "-" }}{{ else }}{{ printf "%s-pgparley" .Release.Name | trunc 45 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- /* Of (list $ part): what its pods are found by. */}}
{{- define "pgparley.selector" -}}
app.kubernetes.io/name: pgparley
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "pgparley.metadata" -}}
{{- $root := index . 0 -}}
name: {{ include "pgparley.name" $root }}-{{ index . 1 }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "pgparley.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ $root.Release.Service }}
{{- end }}

{{- define "pgparley.engineHost" -}}
{{ include "pgparley.name" . }}-engine.{{ .Release.Namespace }}.svc
{{- end }}

{{- /* The gateway's engines. The release's own stand there twice: what one loses goes to another by a second connection. */}}
{{- define "pgparley.engines" -}}
{{- if .Values.gateway.engines }}{{ .Values.gateway.engines }}
{{- else if .Values.engine.enabled }}{{ $url := printf "https://%s:6434" (include "pgparley.engineHost" .) }}{{ $url }}, {{ $url }}
{{- end }}
{{- end }}

{{- /* Of (list $ settings): environment of a part, what values.settings says on top. Section "" is the top level. */}}
{{- define "pgparley.settings" -}}
{{- range $section, $keys := mergeOverwrite (index . 1) (deepCopy (index . 0).Values.settings) }}
{{- range $key, $value := $keys }}
- name: PGPARLEY_{{ if $section }}{{ upper $section }}_{{ end }}{{ upper $key }}
  value: {{ if kindIs "string" $value }}{{ quote $value }}{{ else }}{{ toJson $value | quote }}{{ end }}
{{- end }}
{{- end }}
{{- if (index . 0).Values.configSecret }}
- {name: PGPARLEY_CONFIG, value: /etc/pgparley/config/pgparley.toml}
{{- end }}
{{- end }}

{{- define "pgparley.store" -}}
- name: PGPARLEY_ENGINE_STORE
  valueFrom: {secretKeyRef: {name: {{ .Values.store.secret }}, key: {{ .Values.store.key }}}}
{{- end }}

{{- /* Of (list $ values): what every pod has. No service links: they would be variables named PGPARLEY_… as well. */}}
{{- define "pgparley.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with (index . 0).Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with (index . 1).pod }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "pgparley.closedOff" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "pgparley.mounts" -}}
- {name: run, mountPath: /run/pgparley}
- {name: cache, mountPath: /var/cache/pgparley}
- {name: tmp, mountPath: /tmp}
{{- if .Values.configSecret }}
- {name: config, mountPath: /etc/pgparley/config, readOnly: true}
{{- end }}
{{- end }}

{{- define "pgparley.volumes" -}}
- {name: run, emptyDir: {medium: Memory, sizeLimit: 16Mi}}
- {name: cache, emptyDir: {sizeLimit: 2Gi}}
- {name: tmp, emptyDir: {sizeLimit: 256Mi}}
{{- with .Values.configSecret }}
- {name: config, secret: {secretName: {{ . }}, defaultMode: 0440}}
{{- end }}
{{- end }}
