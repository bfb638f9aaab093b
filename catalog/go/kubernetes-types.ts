/**
 * Kubernetes' own types as shapes, as far as manifests of bundles are decoded into
 * them: metadata of objects, pods, deployments, rules of access.
 *
 * @see https://github.com/kubernetes/api/blob/v0.36.0/core/v1/types.go
 */
import {
  any,
  bool,
  bytes,
  type CheckedShape,
  float,
  int32,
  int64,
  listOf,
  mapOf,
  type Shape,
  type StructShape,
  struct,
  text,
} from './shape.ts';

const QUANTITY_SYNTAX = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$/;

/** `resource.Quantity`: a number, or text such as `100m` and `64Mi`. */
export const quantity: CheckedShape = {
  kind: 'checked',
  goName: 'resource.Quantity',
  expected: 'a quantity such as 100m or 64Mi',
  refusal: (value) =>
    (typeof value === 'string' || typeof value === 'number') && QUANTITY_SYNTAX.test(String(value))
      ? undefined
      : "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
};

/** `intstr.IntOrString`. */
export const intOrString: CheckedShape = {
  kind: 'checked',
  goName: 'intstr.IntOrString',
  expected: 'a whole number or text',
  refusal: (value) =>
    typeof value === 'string' || Number.isInteger(value)
      ? undefined
      : 'json: cannot unmarshal value into Go value of type int32',
};

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** `metav1.Time`: null, the empty text, or a time of RFC 3339. */
export const time: CheckedShape = {
  kind: 'checked',
  goName: 'v1.Time',
  expected: 'a time of RFC 3339',
  refusal: (value) => {
    if (typeof value !== 'string') return 'json: cannot unmarshal value into Go value of type string';
    return value === '' || RFC3339.test(value)
      ? undefined
      : `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse`;
  },
};

const texts = listOf(text);
const textMap = mapOf(text);
const LOCAL_REFERENCE = struct('v1.LocalObjectReference', { name: text });

/** `metav1.ObjectMeta` */
export const OBJECT_META: StructShape = struct('v1.ObjectMeta', {
  name: text,
  generateName: text,
  namespace: text,
  selfLink: text,
  uid: text,
  resourceVersion: text,
  generation: int64,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: int64,
  labels: textMap,
  annotations: textMap,
  ownerReferences: listOf(
    struct('v1.OwnerReference', {
      apiVersion: text,
      kind: text,
      name: text,
      uid: text,
      controller: bool,
      blockOwnerDeletion: bool,
    }),
  ),
  finalizers: texts,
  managedFields: listOf(
    struct('v1.ManagedFieldsEntry', {
      manager: text,
      operation: text,
      apiVersion: text,
      time,
      fieldsType: text,
      subresource: text,
    }),
  ),
});

/** `rbacv1.PolicyRule` */
export const POLICY_RULE: StructShape = struct('v1.PolicyRule', {
  verbs: texts,
  apiGroups: texts,
  resources: texts,
  resourceNames: texts,
  nonResourceURLs: texts,
});

/** `metav1.LabelSelector` */
export const LABEL_SELECTOR: StructShape = struct('v1.LabelSelector', {
  matchLabels: textMap,
  matchExpressions: listOf(
    struct('v1.LabelSelectorRequirement', { key: text, operator: text, values: texts }),
  ),
});

const KEY_SELECTOR = { name: text, key: text, optional: bool };
const FIELD_REFERENCE = struct('v1.ObjectFieldSelector', { apiVersion: text, fieldPath: text });
const RESOURCE_FIELD = struct('v1.ResourceFieldSelector', {
  containerName: text,
  resource: text,
  divisor: quantity,
});

const ENVIRONMENT = {
  env: listOf(
    struct('v1.EnvVar', {
      name: text,
      value: text,
      valueFrom: struct('v1.EnvVarSource', {
        fieldRef: FIELD_REFERENCE,
        resourceFieldRef: RESOURCE_FIELD,
        configMapKeyRef: struct('v1.ConfigMapKeySelector', KEY_SELECTOR),
        secretKeyRef: struct('v1.SecretKeySelector', KEY_SELECTOR),
      }),
    }),
  ),
  envFrom: listOf(
    struct('v1.EnvFromSource', {
      prefix: text,
      configMapRef: struct('v1.ConfigMapEnvSource', { name: text, optional: bool }),
      secretRef: struct('v1.SecretEnvSource', { name: text, optional: bool }),
    }),
  ),
};

const HANDLER = {
  exec: struct('v1.ExecAction', { command: texts }),
  httpGet: struct('v1.HTTPGetAction', {
    path: text,
    port: intOrString,
    host: text,
    scheme: text,
    httpHeaders: listOf(struct('v1.HTTPHeader', { name: text, value: text })),
  }),
  tcpSocket: struct('v1.TCPSocketAction', { port: intOrString, host: text }),
};
const LIFECYCLE_HANDLER = struct('v1.LifecycleHandler', {
  ...HANDLER,
  sleep: struct('v1.SleepAction', { seconds: int64 }),
});
const PROBE = struct('v1.Probe', {
  ...HANDLER,
  grpc: struct('v1.GRPCAction', { port: int32, service: text }),
  initialDelaySeconds: int32,
  timeoutSeconds: int32,
  periodSeconds: int32,
  successThreshold: int32,
  failureThreshold: int32,
  terminationGracePeriodSeconds: int64,
});

const SELINUX = struct('v1.SELinuxOptions', { user: text, role: text, type: text, level: text });
const SECCOMP = struct('v1.SeccompProfile', { type: text, localhostProfile: text });
const APPARMOR = struct('v1.AppArmorProfile', { type: text, localhostProfile: text });
const WINDOWS = struct('v1.WindowsSecurityContextOptions', {
  gmsaCredentialSpecName: text,
  gmsaCredentialSpec: text,
  runAsUserName: text,
  hostProcess: bool,
});
const RUN_AS = {
  runAsUser: int64,
  runAsGroup: int64,
  runAsNonRoot: bool,
  seLinuxOptions: SELINUX,
  seccompProfile: SECCOMP,
  appArmorProfile: APPARMOR,
  windowsOptions: WINDOWS,
};
const RESOURCES = struct('v1.ResourceRequirements', {
  limits: mapOf(quantity),
  requests: mapOf(quantity),
  claims: listOf(struct('v1.ResourceClaim', { name: text, request: text })),
});

/** `corev1.Container` */
export const CONTAINER: StructShape = struct('v1.Container', {
  name: text,
  image: text,
  command: texts,
  args: texts,
  workingDir: text,
  ports: listOf(
    struct('v1.ContainerPort', {
      name: text,
      hostPort: int32,
      containerPort: int32,
      protocol: text,
      hostIP: text,
    }),
  ),
  ...ENVIRONMENT,
  resources: RESOURCES,
  restartPolicy: text,
  volumeMounts: listOf(
    struct('v1.VolumeMount', {
      name: text,
      readOnly: bool,
      recursiveReadOnly: text,
      mountPath: text,
      subPath: text,
      mountPropagation: text,
      subPathExpr: text,
    }),
  ),
  volumeDevices: listOf(struct('v1.VolumeDevice', { name: text, devicePath: text })),
  livenessProbe: PROBE,
  readinessProbe: PROBE,
  startupProbe: PROBE,
  lifecycle: struct('v1.Lifecycle', { postStart: LIFECYCLE_HANDLER, preStop: LIFECYCLE_HANDLER }),
  terminationMessagePath: text,
  terminationMessagePolicy: text,
  imagePullPolicy: text,
  securityContext: struct('v1.SecurityContext', {
    capabilities: struct('v1.Capabilities', { add: texts, drop: texts }),
    privileged: bool,
    ...RUN_AS,
    readOnlyRootFilesystem: bool,
    allowPrivilegeEscalation: bool,
    procMount: text,
  }),
  stdin: bool,
  stdinOnce: bool,
  tty: bool,
});

const KEY_TO_PATH = listOf(struct('v1.KeyToPath', { key: text, path: text, mode: int32 }));
const DOWNWARD_ITEMS = listOf(
  struct('v1.DownwardAPIVolumeFile', {
    path: text,
    fieldRef: FIELD_REFERENCE,
    resourceFieldRef: RESOURCE_FIELD,
    mode: int32,
  }),
);
const VOLUME: StructShape = struct('v1.Volume', {
  name: text,
  hostPath: struct('v1.HostPathVolumeSource', { path: text, type: text }),
  emptyDir: struct('v1.EmptyDirVolumeSource', { medium: text, sizeLimit: quantity }),
  secret: struct('v1.SecretVolumeSource', {
    secretName: text,
    items: KEY_TO_PATH,
    defaultMode: int32,
    optional: bool,
  }),
  configMap: struct('v1.ConfigMapVolumeSource', {
    name: text,
    items: KEY_TO_PATH,
    defaultMode: int32,
    optional: bool,
  }),
  persistentVolumeClaim: struct('v1.PersistentVolumeClaimVolumeSource', { claimName: text, readOnly: bool }),
  downwardAPI: struct('v1.DownwardAPIVolumeSource', { items: DOWNWARD_ITEMS, defaultMode: int32 }),
  nfs: struct('v1.NFSVolumeSource', { server: text, path: text, readOnly: bool }),
  csi: struct('v1.CSIVolumeSource', {
    driver: text,
    readOnly: bool,
    fsType: text,
    volumeAttributes: textMap,
    nodePublishSecretRef: LOCAL_REFERENCE,
  }),
  projected: struct('v1.ProjectedVolumeSource', {
    sources: listOf(
      struct('v1.VolumeProjection', {
        secret: struct('v1.SecretProjection', { name: text, items: KEY_TO_PATH, optional: bool }),
        downwardAPI: struct('v1.DownwardAPIProjection', { items: DOWNWARD_ITEMS }),
        configMap: struct('v1.ConfigMapProjection', { name: text, items: KEY_TO_PATH, optional: bool }),
        serviceAccountToken: struct('v1.ServiceAccountTokenProjection', {
          audience: text,
          expirationSeconds: int64,
          path: text,
        }),
      }),
    ),
    defaultMode: int32,
  }),
});

const NODE_TERM = struct('v1.NodeSelectorTerm', {
  matchExpressions: listOf(
    struct('v1.NodeSelectorRequirement', { key: text, operator: text, values: texts }),
  ),
  matchFields: listOf(struct('v1.NodeSelectorRequirement', { key: text, operator: text, values: texts })),
});
const POD_TERM = struct('v1.PodAffinityTerm', {
  labelSelector: LABEL_SELECTOR,
  namespaces: texts,
  topologyKey: text,
  namespaceSelector: LABEL_SELECTOR,
  matchLabelKeys: texts,
  mismatchLabelKeys: texts,
});
const POD_TERMS = {
  requiredDuringSchedulingIgnoredDuringExecution: listOf(POD_TERM),
  preferredDuringSchedulingIgnoredDuringExecution: listOf(
    struct('v1.WeightedPodAffinityTerm', { weight: int32, podAffinityTerm: POD_TERM }),
  ),
};
const AFFINITY = struct('v1.Affinity', {
  nodeAffinity: struct('v1.NodeAffinity', {
    requiredDuringSchedulingIgnoredDuringExecution: struct('v1.NodeSelector', {
      nodeSelectorTerms: listOf(NODE_TERM),
    }),
    preferredDuringSchedulingIgnoredDuringExecution: listOf(
      struct('v1.PreferredSchedulingTerm', { weight: int32, preference: NODE_TERM }),
    ),
  }),
  podAffinity: struct('v1.PodAffinity', POD_TERMS),
  podAntiAffinity: struct('v1.PodAntiAffinity', POD_TERMS),
});

const POD_SPEC: StructShape = struct('v1.PodSpec', {
  volumes: listOf(VOLUME),
  initContainers: listOf(CONTAINER),
  containers: listOf(CONTAINER),
  ephemeralContainers: any,
  restartPolicy: text,
  terminationGracePeriodSeconds: int64,
  activeDeadlineSeconds: int64,
  dnsPolicy: text,
  nodeSelector: textMap,
  serviceAccountName: text,
  serviceAccount: text,
  automountServiceAccountToken: bool,
  nodeName: text,
  hostNetwork: bool,
  hostPID: bool,
  hostIPC: bool,
  shareProcessNamespace: bool,
  securityContext: struct('v1.PodSecurityContext', {
    ...RUN_AS,
    supplementalGroups: listOf(int64),
    supplementalGroupsPolicy: text,
    fsGroup: int64,
    sysctls: listOf(struct('v1.Sysctl', { name: text, value: text })),
    fsGroupChangePolicy: text,
    seLinuxChangePolicy: text,
  }),
  imagePullSecrets: listOf(LOCAL_REFERENCE),
  hostname: text,
  subdomain: text,
  affinity: AFFINITY,
  schedulerName: text,
  tolerations: listOf(
    struct('v1.Toleration', {
      key: text,
      operator: text,
      value: text,
      effect: text,
      tolerationSeconds: int64,
    }),
  ),
  hostAliases: listOf(struct('v1.HostAlias', { ip: text, hostnames: texts })),
  priorityClassName: text,
  priority: int32,
  dnsConfig: struct('v1.PodDNSConfig', {
    nameservers: texts,
    searches: texts,
    options: listOf(struct('v1.PodDNSConfigOption', { name: text, value: text })),
  }),
  readinessGates: listOf(struct('v1.PodReadinessGate', { conditionType: text })),
  runtimeClassName: text,
  enableServiceLinks: bool,
  preemptionPolicy: text,
  overhead: mapOf(quantity),
  topologySpreadConstraints: listOf(
    struct('v1.TopologySpreadConstraint', {
      maxSkew: int32,
      topologyKey: text,
      whenUnsatisfiable: text,
      labelSelector: LABEL_SELECTOR,
      minDomains: int32,
      nodeAffinityPolicy: text,
      nodeTaintsPolicy: text,
      matchLabelKeys: texts,
    }),
  ),
  setHostnameAsFQDN: bool,
  os: struct('v1.PodOS', { name: text }),
  hostUsers: bool,
});

/** `appsv1.DeploymentSpec` */
export const DEPLOYMENT_SPEC: StructShape = struct('v1.DeploymentSpec', {
  replicas: int32,
  selector: LABEL_SELECTOR,
  template: struct('v1.PodTemplateSpec', { metadata: OBJECT_META, spec: POD_SPEC }),
  strategy: struct('v1.DeploymentStrategy', {
    type: text,
    rollingUpdate: struct('v1.RollingUpdateDeployment', {
      maxUnavailable: intOrString,
      maxSurge: intOrString,
    }),
  }),
  minReadySeconds: int32,
  revisionHistoryLimit: int32,
  paused: bool,
  progressDeadlineSeconds: int32,
});

const JSON_SCHEMA_FIELDS: Record<string, Shape> = {};

/** `apiextensions.JSONSchemaProps`, of v1 and of v1beta1. */
export const JSON_SCHEMA: StructShape = {
  kind: 'struct',
  name: 'v1.JSONSchemaProps',
  fields: JSON_SCHEMA_FIELDS,
  exactKeys: true,
};

/** A schema, or something else that JSON Schema allows in its place. */
function schemaOr(goName: string, other: (value: unknown) => boolean): CheckedShape {
  return {
    kind: 'checked',
    goName,
    expected: 'a schema',
    refusal: (value) =>
      (typeof value === 'object' && !Array.isArray(value)) || other(value)
        ? undefined
        : 'boolean or JSON schema expected',
  };
}

const schemas = listOf(JSON_SCHEMA);
Object.assign(JSON_SCHEMA_FIELDS, {
  id: text,
  $schema: text,
  $ref: text,
  description: text,
  type: text,
  format: text,
  title: text,
  default: any,
  maximum: float,
  exclusiveMaximum: bool,
  minimum: float,
  exclusiveMinimum: bool,
  maxLength: int64,
  minLength: int64,
  pattern: text,
  maxItems: int64,
  minItems: int64,
  uniqueItems: bool,
  multipleOf: float,
  enum: listOf(any),
  maxProperties: int64,
  minProperties: int64,
  required: texts,
  items: schemaOr('v1.JSONSchemaPropsOrArray', Array.isArray),
  allOf: schemas,
  oneOf: schemas,
  anyOf: schemas,
  not: JSON_SCHEMA,
  properties: mapOf(JSON_SCHEMA),
  additionalProperties: schemaOr('v1.JSONSchemaPropsOrBool', (value) => typeof value === 'boolean'),
  patternProperties: mapOf(JSON_SCHEMA),
  dependencies: any,
  additionalItems: schemaOr('v1.JSONSchemaPropsOrBool', (value) => typeof value === 'boolean'),
  definitions: mapOf(JSON_SCHEMA),
  externalDocs: struct('v1.ExternalDocumentation', { description: text, url: text }),
  example: any,
  nullable: bool,
  'x-kubernetes-preserve-unknown-fields': bool,
  'x-kubernetes-embedded-resource': bool,
  'x-kubernetes-int-or-string': bool,
  'x-kubernetes-list-map-keys': texts,
  'x-kubernetes-list-type': text,
  'x-kubernetes-map-type': text,
  'x-kubernetes-validations': listOf(
    exact(
      struct('v1.ValidationRule', {
        rule: text,
        message: text,
        messageExpression: text,
        reason: text,
        fieldPath: text,
        optionalOldSelf: bool,
      }),
    ),
  ),
});

const NAMES = struct('v1.CustomResourceDefinitionNames', {
  plural: text,
  singular: text,
  shortNames: texts,
  kind: text,
  listKind: text,
  categories: texts,
});
const WEBHOOK_CLIENT = struct('v1.WebhookClientConfig', {
  url: text,
  service: struct('v1.ServiceReference', { namespace: text, name: text, path: text, port: int32 }),
  caBundle: bytes,
});
const VALIDATION = struct('v1.CustomResourceValidation', { openAPIV3Schema: JSON_SCHEMA });
const SUBRESOURCES = struct('v1.CustomResourceSubresources', {
  status: struct('v1.CustomResourceSubresourceStatus', {}),
  scale: struct('v1.CustomResourceSubresourceScale', {
    specReplicasPath: text,
    statusReplicasPath: text,
    labelSelectorPath: text,
  }),
});
const COLUMN = { name: text, type: text, format: text, description: text, priority: int32 };

/** The same shape with keys that count only as they are spelled, at every depth. */
function exact(shape: StructShape): StructShape {
  if (shape.exactKeys) return shape;
  const fields = Object.entries(shape.fields).map(([name, field]) => [name, exactIn(field)] as const);
  return { ...shape, fields: Object.fromEntries(fields), exactKeys: true };
}

function exactIn(shape: Shape): Shape {
  if (shape.kind === 'struct') return exact(shape);
  if (shape.kind === 'list') return listOf(exactIn(shape.items));
  return shape.kind === 'map' ? mapOf(exactIn(shape.values)) : shape;
}

/** A version of a custom resource definition; columns have their path under different names. */
function crdVersion(column: string): StructShape {
  return struct('v1.CustomResourceDefinitionVersion', {
    name: text,
    served: bool,
    storage: bool,
    deprecated: bool,
    deprecationWarning: text,
    schema: VALIDATION,
    subresources: SUBRESOURCES,
    additionalPrinterColumns: listOf(
      struct('v1.CustomResourceColumnDefinition', { ...COLUMN, [column]: text }),
    ),
    selectableFields: listOf(struct('v1.SelectableField', { jsonPath: text })),
  });
}

const CRD_META = { apiVersion: text, kind: text, metadata: OBJECT_META, status: any };

/** `apiextensionsv1.CustomResourceDefinition` */
export const CRD_V1: StructShape = exact(
  struct('v1.CustomResourceDefinition', {
    ...CRD_META,
    spec: struct('v1.CustomResourceDefinitionSpec', {
      group: text,
      names: NAMES,
      scope: text,
      versions: listOf(crdVersion('jsonPath')),
      conversion: struct('v1.CustomResourceConversion', {
        strategy: text,
        webhook: struct('v1.WebhookConversion', {
          clientConfig: WEBHOOK_CLIENT,
          conversionReviewVersions: texts,
        }),
      }),
      preserveUnknownFields: bool,
    }),
  }),
);

/** `apiextensionsv1beta1.CustomResourceDefinition` */
export const CRD_V1BETA1: StructShape = exact(
  struct('v1beta1.CustomResourceDefinition', {
    ...CRD_META,
    spec: struct('v1beta1.CustomResourceDefinitionSpec', {
      group: text,
      version: text,
      names: NAMES,
      scope: text,
      validation: VALIDATION,
      subresources: SUBRESOURCES,
      versions: listOf(crdVersion('JSONPath')),
      additionalPrinterColumns: listOf(
        struct('v1beta1.CustomResourceColumnDefinition', { ...COLUMN, JSONPath: text }),
      ),
      selectableFields: listOf(struct('v1beta1.SelectableField', { jsonPath: text })),
      conversion: struct('v1beta1.CustomResourceConversion', {
        strategy: text,
        webhookClientConfig: WEBHOOK_CLIENT,
        conversionReviewVersions: texts,
      }),
      preserveUnknownFields: bool,
    }),
  }),
);
