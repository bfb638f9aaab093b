{{- define "portolan.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "portolan.labels" -}}
app.kubernetes.io/name: portolan
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Of pods of one role: call with (dict "root" $ "role" "work"). */}}
{{- define "portolan.podMetadata" -}}
annotations:
  # Processes that have read other sources are replaced.
  portolan/sources: {{ include "portolan.sources" .root | sha256sum }}
  {{- with .root.Values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
labels:
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- include "portolan.labels" .root | nindent 2 }}
  app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "portolan.image" -}}
{{- $image := .Values.image -}}
{{- $repository := required "image.repository is not set: build the image from functions/kubernetes/Containerfile" $image.repository -}}
{{- if $image.digest }}{{ $repository }}@{{ $image.digest }}
{{- else }}{{ $repository }}:{{ required "image.digest is not set, and image.tag neither" $image.tag }}{{ end }}
{{- end }}

{{/* A pod of one role: call with (dict "root" $ "role" "work" "resources" …). Jobs end by themselves and have no probes. */}}
{{- define "portolan.pod" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $secrets := list -}}
{{- range ternary (list "webhook") (list "app" "registries" "signing") (eq .role "receive") -}}
{{- if (index $values .).secret.name }}{{ $secrets = append $secrets . }}{{ end -}}
{{- end -}}
{{- $isService := has .role (list "receive" "work") -}}
serviceAccountName: {{ include "portolan.name" $root }}
automountServiceAccountToken: false
{{- with $values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" }}
{{- with index $values $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
{{- if $isService }}
# A minute more than the process takes to stop.
terminationGracePeriodSeconds: {{ add $values.work.stopSeconds 60 }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "portolan.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .role }}
{{- else }}
restartPolicy: Never
{{- end }}
containers:
  - name: {{ .role }}
    image: {{ include "portolan.image" $root }}
    imagePullPolicy: {{ $values.image.pullPolicy }}
    # Also for images whose entry point is the command line.
    command: [node, /app/kubernetes.mjs]
    args: [{{ .role }}]
    env:
      - name: PORTOLAN_SOURCES
        valueFrom:
          configMapKeyRef:
            name: {{ include "portolan.name" $root }}
            key: sources.json
      - name: PORTOLAN_DATABASE
        valueFrom:
          secretKeyRef:
            name: {{ $values.database.secret.name }}
            key: {{ $values.database.secret.key }}
      - name: PORTOLAN_CONNECTIONS
        value: {{ $values.database.connections | quote }}
      - name: PORTOLAN_PARALLEL
        value: {{ $values.work.parallel | quote }}
      - name: PORTOLAN_STOP_LEAVE
        value: {{ $values.work.stopSeconds | quote }}
      - name: PORTOLAN_CACHE
        value: /cache
      {{- if eq .role "receive" }}
      - name: PORTOLAN_WEBHOOK_SECRET_FILE
        value: /secrets/webhook/{{ $values.webhook.secret.key }}
      {{- end }}
      {{- if $values.app.secret.name }}
      # Who receives only has to know that there is an App: the file is not mounted there.
      - name: PORTOLAN_APP_SECRET_FILE
        value: /secrets/app/{{ $values.app.secret.key }}
      {{- end }}
      {{- if has "registries" $secrets }}
      - name: PORTOLAN_AUTHFILE
        value: /secrets/registries/{{ $values.registries.secret.key }}
      {{- end }}
      {{- if has "signing" $secrets }}
      - name: PORTOLAN_SIGNING_KEY_FILE
        value: /secrets/signing/{{ $values.signing.secret.key }}
      {{- end }}
      {{- if $values.trustedCa.configMap }}
      - name: NODE_EXTRA_CA_CERTS
        value: /trusted/{{ $values.trustedCa.key }}
      {{- end }}
      {{- range $name, $value := dict "PORTOLAN_AUDIENCE" $values.audience "PORTOLAN_ISSUER" $values.issuer "PORTOLAN_PAGES" $values.pages "PORTOLAN_FORGE" $values.forge.kind "PORTOLAN_API" (coalesce $values.forge.api $values.githubApi) "PORTOLAN_PLAIN_HTTP" (join "," $values.plainHttp) "HTTP_PROXY" $values.proxy.http "HTTPS_PROXY" $values.proxy.https "NO_PROXY" $values.proxy.except }}
      {{- if $value }}
      - name: {{ $name }}
        value: {{ $value | quote }}
      {{- end }}
      {{- end }}
      {{- range $name, $days := dict "PORTOLAN_KEEP_OUTCOMES" $values.keepDays.outcomes "PORTOLAN_KEEP_DOCUMENTS" $values.keepDays.documents }}
      {{- if $days }}
      - name: {{ $name }}
        value: {{ $days | quote }}
      {{- end }}
      {{- end }}
      {{- with $values.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      {{- with $values.documents }}
      {{- if .bucket }}
      - name: PORTOLAN_BUCKET
        value: {{ .bucket | quote }}
      - name: AWS_REGION
        value: {{ .region | quote }}
      {{- if .endpoint }}
      - name: AWS_ENDPOINT_URL
        value: {{ .endpoint | quote }}
      {{- end }}
      {{- if .secret }}
      {{- $secret := .secret }}
      {{- range list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" }}
      - name: {{ . }}
        valueFrom:
          secretKeyRef:
            name: {{ $secret }}
            key: {{ . }}
      {{- end }}
      {{- end }}
      {{- end }}
      {{- end }}
    {{- if $isService }}
    ports:
      {{- if eq .role "receive" }}
      - name: http
        containerPort: 8080
      {{- end }}
      - name: metrics
        containerPort: 9090
    livenessProbe:
      httpGet: {path: /healthz, port: metrics}
      timeoutSeconds: 5
      failureThreshold: 6
    readinessProbe:
      httpGet: {path: /readyz, port: metrics}
      timeoutSeconds: 6
    startupProbe:
      httpGet: {path: /healthz, port: metrics}
      timeoutSeconds: 5
      failureThreshold: 12
    {{- end }}
    resources:
      {{- toYaml .resources | nindent 6 }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities:
        drop: [ALL]
    volumeMounts:
      - {name: tmp, mountPath: /tmp}
      - {name: cache, mountPath: /cache}
      {{- range $secrets }}
      - {name: {{ . }}, mountPath: /secrets/{{ . }}, readOnly: true}
      {{- end }}
      {{- if $values.trustedCa.configMap }}
      - {name: trusted, mountPath: /trusted, readOnly: true}
      {{- end }}
volumes:
  - name: tmp
    emptyDir: {}
  - name: cache
    emptyDir:
      sizeLimit: {{ $values.work.cache }}
  {{- range $secrets }}
  {{- $secret := (index $values .).secret }}
  - name: {{ . }}
    secret:
      secretName: {{ $secret.name }}
      items:
        - {key: {{ $secret.key }}, path: {{ $secret.key }}}
  {{- end }}
  {{- if $values.trustedCa.configMap }}
  - name: trusted
    configMap:
      name: {{ $values.trustedCa.configMap }}
  {{- end }}
{{- end }}

{{- define "portolan.sources" -}}
{{- if not .Values.sources }}{{ fail "sources is empty: name the repositories that are published" }}{{ end -}}
{{ .Values.sources | toJson }}
{{- end }}
