// Generated from Kubernetes v0.36.0 by scripts/kubernetes-types (npm run kubernetes-types); do not edit.

/** Kubernetes' own types as shapes, as far as manifests of bundles are decoded into them. */
import {
  intOrString,
  quantity,
  schemaOrArray,
  schemaOrBool,
  textOf,
  time,
  withExactKeys,
} from './kubernetes-readers.ts';
import {
  any,
  bool,
  bytes,
  float,
  int32,
  int64,
  listOf,
  mapOf,
  type Shape,
  type StructShape,
  structShape,
  text,
} from './shape.ts';

const OWNER_REFERENCE: StructShape = structShape('v1.OwnerReference', {
  apiVersion: text,
  kind: text,
  name: text,
  uid: textOf('types.UID'),
  controller: bool,
  blockOwnerDeletion: bool,
});

const MANAGED_FIELDS_ENTRY: StructShape = structShape('v1.ManagedFieldsEntry', {
  manager: text,
  operation: textOf('v1.ManagedFieldsOperationType'),
  apiVersion: text,
  time: time,
  fieldsType: text,
  fieldsV1: any,
  subresource: text,
});

/** `k8s.io/apimachinery/pkg/apis/meta/v1.ObjectMeta` */
export const OBJECT_META: StructShape = structShape('v1.ObjectMeta', {
  name: text,
  generateName: text,
  namespace: text,
  selfLink: text,
  uid: textOf('types.UID'),
  resourceVersion: text,
  generation: int64,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: int64,
  labels: mapOf(text),
  annotations: mapOf(text),
  ownerReferences: listOf(OWNER_REFERENCE),
  finalizers: listOf(text),
  managedFields: listOf(MANAGED_FIELDS_ENTRY),
});

/** `k8s.io/api/rbac/v1.PolicyRule` */
export const POLICY_RULE: StructShape = structShape('v1.PolicyRule', {
  verbs: listOf(text),
  apiGroups: listOf(text),
  resources: listOf(text),
  resourceNames: listOf(text),
  nonResourceURLs: listOf(text),
});

const LABEL_SELECTOR_REQUIREMENT: StructShape = structShape('v1.LabelSelectorRequirement', {
  key: text,
  operator: textOf('v1.LabelSelectorOperator'),
  values: listOf(text),
});

/** `k8s.io/apimachinery/pkg/apis/meta/v1.LabelSelector` */
export const LABEL_SELECTOR: StructShape = structShape('v1.LabelSelector', {
  matchLabels: mapOf(text),
  matchExpressions: listOf(LABEL_SELECTOR_REQUIREMENT),
});

const HOST_PATH_VOLUME_SOURCE: StructShape = structShape('v1.HostPathVolumeSource', {
  path: text,
  type: textOf('v1.HostPathType'),
});

const EMPTY_DIR_VOLUME_SOURCE: StructShape = structShape('v1.EmptyDirVolumeSource', {
  medium: textOf('v1.StorageMedium'),
  sizeLimit: quantity,
});

const GCEPERSISTENT_DISK_VOLUME_SOURCE: StructShape = structShape('v1.GCEPersistentDiskVolumeSource', {
  pdName: text,
  fsType: text,
  partition: int32,
  readOnly: bool,
});

const AWSELASTIC_BLOCK_STORE_VOLUME_SOURCE: StructShape = structShape('v1.AWSElasticBlockStoreVolumeSource', {
  volumeID: text,
  fsType: text,
  partition: int32,
  readOnly: bool,
});

const GIT_REPO_VOLUME_SOURCE: StructShape = structShape('v1.GitRepoVolumeSource', {
  repository: text,
  revision: text,
  directory: text,
});

const KEY_TO_PATH: StructShape = structShape('v1.KeyToPath', { key: text, path: text, mode: int32 });

const SECRET_VOLUME_SOURCE: StructShape = structShape('v1.SecretVolumeSource', {
  secretName: text,
  items: listOf(KEY_TO_PATH),
  defaultMode: int32,
  optional: bool,
});

const NFSVOLUME_SOURCE: StructShape = structShape('v1.NFSVolumeSource', {
  server: text,
  path: text,
  readOnly: bool,
});

const LOCAL_OBJECT_REFERENCE: StructShape = structShape('v1.LocalObjectReference', { name: text });

const ISCSIVOLUME_SOURCE: StructShape = structShape('v1.ISCSIVolumeSource', {
  targetPortal: text,
  iqn: text,
  lun: int32,
  iscsiInterface: text,
  fsType: text,
  readOnly: bool,
  portals: listOf(text),
  chapAuthDiscovery: bool,
  chapAuthSession: bool,
  secretRef: LOCAL_OBJECT_REFERENCE,
  initiatorName: text,
});

const GLUSTERFS_VOLUME_SOURCE: StructShape = structShape('v1.GlusterfsVolumeSource', {
  endpoints: text,
  path: text,
  readOnly: bool,
});

const PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE: StructShape = structShape(
  'v1.PersistentVolumeClaimVolumeSource',
  {
    claimName: text,
    readOnly: bool,
  },
);

const RBDVOLUME_SOURCE: StructShape = structShape('v1.RBDVolumeSource', {
  monitors: listOf(text),
  image: text,
  fsType: text,
  pool: text,
  user: text,
  keyring: text,
  secretRef: LOCAL_OBJECT_REFERENCE,
  readOnly: bool,
});

const FLEX_VOLUME_SOURCE: StructShape = structShape('v1.FlexVolumeSource', {
  driver: text,
  fsType: text,
  secretRef: LOCAL_OBJECT_REFERENCE,
  readOnly: bool,
  options: mapOf(text),
});

const CINDER_VOLUME_SOURCE: StructShape = structShape('v1.CinderVolumeSource', {
  volumeID: text,
  fsType: text,
  readOnly: bool,
  secretRef: LOCAL_OBJECT_REFERENCE,
});

const CEPH_FSVOLUME_SOURCE: StructShape = structShape('v1.CephFSVolumeSource', {
  monitors: listOf(text),
  path: text,
  user: text,
  secretFile: text,
  secretRef: LOCAL_OBJECT_REFERENCE,
  readOnly: bool,
});

const FLOCKER_VOLUME_SOURCE: StructShape = structShape('v1.FlockerVolumeSource', {
  datasetName: text,
  datasetUUID: text,
});

const OBJECT_FIELD_SELECTOR: StructShape = structShape('v1.ObjectFieldSelector', {
  apiVersion: text,
  fieldPath: text,
});

const RESOURCE_FIELD_SELECTOR: StructShape = structShape('v1.ResourceFieldSelector', {
  containerName: text,
  resource: text,
  divisor: quantity,
});

const DOWNWARD_APIVOLUME_FILE: StructShape = structShape('v1.DownwardAPIVolumeFile', {
  path: text,
  fieldRef: OBJECT_FIELD_SELECTOR,
  resourceFieldRef: RESOURCE_FIELD_SELECTOR,
  mode: int32,
});

const DOWNWARD_APIVOLUME_SOURCE: StructShape = structShape('v1.DownwardAPIVolumeSource', {
  items: listOf(DOWNWARD_APIVOLUME_FILE),
  defaultMode: int32,
});

const FCVOLUME_SOURCE: StructShape = structShape('v1.FCVolumeSource', {
  targetWWNs: listOf(text),
  lun: int32,
  fsType: text,
  readOnly: bool,
  wwids: listOf(text),
});

const AZURE_FILE_VOLUME_SOURCE: StructShape = structShape('v1.AzureFileVolumeSource', {
  secretName: text,
  shareName: text,
  readOnly: bool,
});

const CONFIG_MAP_VOLUME_SOURCE: StructShape = structShape('v1.ConfigMapVolumeSource', {
  name: text,
  items: listOf(KEY_TO_PATH),
  defaultMode: int32,
  optional: bool,
});

const VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE: StructShape = structShape('v1.VsphereVirtualDiskVolumeSource', {
  volumePath: text,
  fsType: text,
  storagePolicyName: text,
  storagePolicyID: text,
});

const QUOBYTE_VOLUME_SOURCE: StructShape = structShape('v1.QuobyteVolumeSource', {
  registry: text,
  volume: text,
  readOnly: bool,
  user: text,
  group: text,
  tenant: text,
});

const AZURE_DISK_VOLUME_SOURCE: StructShape = structShape('v1.AzureDiskVolumeSource', {
  diskName: text,
  diskURI: text,
  cachingMode: textOf('v1.AzureDataDiskCachingMode'),
  fsType: text,
  readOnly: bool,
  kind: textOf('v1.AzureDataDiskKind'),
});

const PHOTON_PERSISTENT_DISK_VOLUME_SOURCE: StructShape = structShape('v1.PhotonPersistentDiskVolumeSource', {
  pdID: text,
  fsType: text,
});

const SECRET_PROJECTION: StructShape = structShape('v1.SecretProjection', {
  name: text,
  items: listOf(KEY_TO_PATH),
  optional: bool,
});

const DOWNWARD_APIPROJECTION: StructShape = structShape('v1.DownwardAPIProjection', {
  items: listOf(DOWNWARD_APIVOLUME_FILE),
});

const CONFIG_MAP_PROJECTION: StructShape = structShape('v1.ConfigMapProjection', {
  name: text,
  items: listOf(KEY_TO_PATH),
  optional: bool,
});

const SERVICE_ACCOUNT_TOKEN_PROJECTION: StructShape = structShape('v1.ServiceAccountTokenProjection', {
  audience: text,
  expirationSeconds: int64,
  path: text,
});

const CLUSTER_TRUST_BUNDLE_PROJECTION: StructShape = structShape('v1.ClusterTrustBundleProjection', {
  name: text,
  signerName: text,
  labelSelector: LABEL_SELECTOR,
  optional: bool,
  path: text,
});

const POD_CERTIFICATE_PROJECTION: StructShape = structShape('v1.PodCertificateProjection', {
  signerName: text,
  keyType: text,
  maxExpirationSeconds: int32,
  credentialBundlePath: text,
  keyPath: text,
  certificateChainPath: text,
  userAnnotations: mapOf(text),
});

const VOLUME_PROJECTION: StructShape = structShape('v1.VolumeProjection', {
  secret: SECRET_PROJECTION,
  downwardAPI: DOWNWARD_APIPROJECTION,
  configMap: CONFIG_MAP_PROJECTION,
  serviceAccountToken: SERVICE_ACCOUNT_TOKEN_PROJECTION,
  clusterTrustBundle: CLUSTER_TRUST_BUNDLE_PROJECTION,
  podCertificate: POD_CERTIFICATE_PROJECTION,
});

const PROJECTED_VOLUME_SOURCE: StructShape = structShape('v1.ProjectedVolumeSource', {
  sources: listOf(VOLUME_PROJECTION),
  defaultMode: int32,
});

const PORTWORX_VOLUME_SOURCE: StructShape = structShape('v1.PortworxVolumeSource', {
  volumeID: text,
  fsType: text,
  readOnly: bool,
});

const SCALE_IOVOLUME_SOURCE: StructShape = structShape('v1.ScaleIOVolumeSource', {
  gateway: text,
  system: text,
  secretRef: LOCAL_OBJECT_REFERENCE,
  sslEnabled: bool,
  protectionDomain: text,
  storagePool: text,
  storageMode: text,
  volumeName: text,
  fsType: text,
  readOnly: bool,
});

const STORAGE_OSVOLUME_SOURCE: StructShape = structShape('v1.StorageOSVolumeSource', {
  volumeName: text,
  volumeNamespace: text,
  fsType: text,
  readOnly: bool,
  secretRef: LOCAL_OBJECT_REFERENCE,
});

const CSIVOLUME_SOURCE: StructShape = structShape('v1.CSIVolumeSource', {
  driver: text,
  readOnly: bool,
  fsType: text,
  volumeAttributes: mapOf(text),
  nodePublishSecretRef: LOCAL_OBJECT_REFERENCE,
});

const VOLUME_RESOURCE_REQUIREMENTS: StructShape = structShape('v1.VolumeResourceRequirements', {
  limits: mapOf(quantity),
  requests: mapOf(quantity),
});

const TYPED_LOCAL_OBJECT_REFERENCE: StructShape = structShape('v1.TypedLocalObjectReference', {
  apiGroup: text,
  kind: text,
  name: text,
});

const TYPED_OBJECT_REFERENCE: StructShape = structShape('v1.TypedObjectReference', {
  apiGroup: text,
  kind: text,
  name: text,
  namespace: text,
});

const PERSISTENT_VOLUME_CLAIM_SPEC: StructShape = structShape('v1.PersistentVolumeClaimSpec', {
  accessModes: listOf(textOf('v1.PersistentVolumeAccessMode')),
  selector: LABEL_SELECTOR,
  resources: VOLUME_RESOURCE_REQUIREMENTS,
  volumeName: text,
  storageClassName: text,
  volumeMode: textOf('v1.PersistentVolumeMode'),
  dataSource: TYPED_LOCAL_OBJECT_REFERENCE,
  dataSourceRef: TYPED_OBJECT_REFERENCE,
  volumeAttributesClassName: text,
});

const PERSISTENT_VOLUME_CLAIM_TEMPLATE: StructShape = structShape('v1.PersistentVolumeClaimTemplate', {
  metadata: OBJECT_META,
  spec: PERSISTENT_VOLUME_CLAIM_SPEC,
});

const EPHEMERAL_VOLUME_SOURCE: StructShape = structShape('v1.EphemeralVolumeSource', {
  volumeClaimTemplate: PERSISTENT_VOLUME_CLAIM_TEMPLATE,
});

const IMAGE_VOLUME_SOURCE: StructShape = structShape('v1.ImageVolumeSource', {
  reference: text,
  pullPolicy: textOf('v1.PullPolicy'),
});

const VOLUME: StructShape = structShape('v1.Volume', {
  name: text,
  hostPath: HOST_PATH_VOLUME_SOURCE,
  emptyDir: EMPTY_DIR_VOLUME_SOURCE,
  gcePersistentDisk: GCEPERSISTENT_DISK_VOLUME_SOURCE,
  awsElasticBlockStore: AWSELASTIC_BLOCK_STORE_VOLUME_SOURCE,
  gitRepo: GIT_REPO_VOLUME_SOURCE,
  secret: SECRET_VOLUME_SOURCE,
  nfs: NFSVOLUME_SOURCE,
  iscsi: ISCSIVOLUME_SOURCE,
  glusterfs: GLUSTERFS_VOLUME_SOURCE,
  persistentVolumeClaim: PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE,
  rbd: RBDVOLUME_SOURCE,
  flexVolume: FLEX_VOLUME_SOURCE,
  cinder: CINDER_VOLUME_SOURCE,
  cephfs: CEPH_FSVOLUME_SOURCE,
  flocker: FLOCKER_VOLUME_SOURCE,
  downwardAPI: DOWNWARD_APIVOLUME_SOURCE,
  fc: FCVOLUME_SOURCE,
  azureFile: AZURE_FILE_VOLUME_SOURCE,
  configMap: CONFIG_MAP_VOLUME_SOURCE,
  vsphereVolume: VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE,
  quobyte: QUOBYTE_VOLUME_SOURCE,
  azureDisk: AZURE_DISK_VOLUME_SOURCE,
  photonPersistentDisk: PHOTON_PERSISTENT_DISK_VOLUME_SOURCE,
  projected: PROJECTED_VOLUME_SOURCE,
  portworxVolume: PORTWORX_VOLUME_SOURCE,
  scaleIO: SCALE_IOVOLUME_SOURCE,
  storageos: STORAGE_OSVOLUME_SOURCE,
  csi: CSIVOLUME_SOURCE,
  ephemeral: EPHEMERAL_VOLUME_SOURCE,
  image: IMAGE_VOLUME_SOURCE,
});

const CONTAINER_PORT: StructShape = structShape('v1.ContainerPort', {
  name: text,
  hostPort: int32,
  containerPort: int32,
  protocol: textOf('v1.Protocol'),
  hostIP: text,
});

const CONFIG_MAP_ENV_SOURCE: StructShape = structShape('v1.ConfigMapEnvSource', {
  name: text,
  optional: bool,
});

const SECRET_ENV_SOURCE: StructShape = structShape('v1.SecretEnvSource', { name: text, optional: bool });

const ENV_FROM_SOURCE: StructShape = structShape('v1.EnvFromSource', {
  prefix: text,
  configMapRef: CONFIG_MAP_ENV_SOURCE,
  secretRef: SECRET_ENV_SOURCE,
});

const CONFIG_MAP_KEY_SELECTOR: StructShape = structShape('v1.ConfigMapKeySelector', {
  name: text,
  key: text,
  optional: bool,
});

const SECRET_KEY_SELECTOR: StructShape = structShape('v1.SecretKeySelector', {
  name: text,
  key: text,
  optional: bool,
});

const FILE_KEY_SELECTOR: StructShape = structShape('v1.FileKeySelector', {
  volumeName: text,
  path: text,
  key: text,
  optional: bool,
});

const ENV_VAR_SOURCE: StructShape = structShape('v1.EnvVarSource', {
  fieldRef: OBJECT_FIELD_SELECTOR,
  resourceFieldRef: RESOURCE_FIELD_SELECTOR,
  configMapKeyRef: CONFIG_MAP_KEY_SELECTOR,
  secretKeyRef: SECRET_KEY_SELECTOR,
  fileKeyRef: FILE_KEY_SELECTOR,
});

const ENV_VAR: StructShape = structShape('v1.EnvVar', { name: text, value: text, valueFrom: ENV_VAR_SOURCE });

const RESOURCE_CLAIM: StructShape = structShape('v1.ResourceClaim', { name: text, request: text });

const RESOURCE_REQUIREMENTS: StructShape = structShape('v1.ResourceRequirements', {
  limits: mapOf(quantity),
  requests: mapOf(quantity),
  claims: listOf(RESOURCE_CLAIM),
});

const CONTAINER_RESIZE_POLICY: StructShape = structShape('v1.ContainerResizePolicy', {
  resourceName: textOf('v1.ResourceName'),
  restartPolicy: textOf('v1.ResourceResizeRestartPolicy'),
});

const CONTAINER_RESTART_RULE_ON_EXIT_CODES: StructShape = structShape('v1.ContainerRestartRuleOnExitCodes', {
  operator: textOf('v1.ContainerRestartRuleOnExitCodesOperator'),
  values: listOf(int32),
});

const CONTAINER_RESTART_RULE: StructShape = structShape('v1.ContainerRestartRule', {
  action: textOf('v1.ContainerRestartRuleAction'),
  exitCodes: CONTAINER_RESTART_RULE_ON_EXIT_CODES,
});

const VOLUME_MOUNT: StructShape = structShape('v1.VolumeMount', {
  name: text,
  readOnly: bool,
  recursiveReadOnly: textOf('v1.RecursiveReadOnlyMode'),
  mountPath: text,
  subPath: text,
  mountPropagation: textOf('v1.MountPropagationMode'),
  subPathExpr: text,
});

const VOLUME_DEVICE: StructShape = structShape('v1.VolumeDevice', { name: text, devicePath: text });

const EXEC_ACTION: StructShape = structShape('v1.ExecAction', { command: listOf(text) });

const HTTPHEADER: StructShape = structShape('v1.HTTPHeader', { name: text, value: text });

const HTTPGET_ACTION: StructShape = structShape('v1.HTTPGetAction', {
  path: text,
  port: intOrString,
  host: text,
  scheme: textOf('v1.URIScheme'),
  httpHeaders: listOf(HTTPHEADER),
});

const TCPSOCKET_ACTION: StructShape = structShape('v1.TCPSocketAction', { port: intOrString, host: text });

const GRPCACTION: StructShape = structShape('v1.GRPCAction', { port: int32, service: text });

const PROBE: StructShape = structShape('v1.Probe', {
  exec: EXEC_ACTION,
  httpGet: HTTPGET_ACTION,
  tcpSocket: TCPSOCKET_ACTION,
  grpc: GRPCACTION,
  initialDelaySeconds: int32,
  timeoutSeconds: int32,
  periodSeconds: int32,
  successThreshold: int32,
  failureThreshold: int32,
  terminationGracePeriodSeconds: int64,
});

const SLEEP_ACTION: StructShape = structShape('v1.SleepAction', { seconds: int64 });

const LIFECYCLE_HANDLER: StructShape = structShape('v1.LifecycleHandler', {
  exec: EXEC_ACTION,
  httpGet: HTTPGET_ACTION,
  tcpSocket: TCPSOCKET_ACTION,
  sleep: SLEEP_ACTION,
});

const LIFECYCLE: StructShape = structShape('v1.Lifecycle', {
  postStart: LIFECYCLE_HANDLER,
  preStop: LIFECYCLE_HANDLER,
  stopSignal: textOf('v1.Signal'),
});

const CAPABILITIES: StructShape = structShape('v1.Capabilities', {
  add: listOf(textOf('v1.Capability')),
  drop: listOf(textOf('v1.Capability')),
});

const SELINUX_OPTIONS: StructShape = structShape('v1.SELinuxOptions', {
  user: text,
  role: text,
  type: text,
  level: text,
});

const WINDOWS_SECURITY_CONTEXT_OPTIONS: StructShape = structShape('v1.WindowsSecurityContextOptions', {
  gmsaCredentialSpecName: text,
  gmsaCredentialSpec: text,
  runAsUserName: text,
  hostProcess: bool,
});

const SECCOMP_PROFILE: StructShape = structShape('v1.SeccompProfile', {
  type: textOf('v1.SeccompProfileType'),
  localhostProfile: text,
});

const APP_ARMOR_PROFILE: StructShape = structShape('v1.AppArmorProfile', {
  type: textOf('v1.AppArmorProfileType'),
  localhostProfile: text,
});

const SECURITY_CONTEXT: StructShape = structShape('v1.SecurityContext', {
  capabilities: CAPABILITIES,
  privileged: bool,
  seLinuxOptions: SELINUX_OPTIONS,
  windowsOptions: WINDOWS_SECURITY_CONTEXT_OPTIONS,
  runAsUser: int64,
  runAsGroup: int64,
  runAsNonRoot: bool,
  readOnlyRootFilesystem: bool,
  allowPrivilegeEscalation: bool,
  procMount: textOf('v1.ProcMountType'),
  seccompProfile: SECCOMP_PROFILE,
  appArmorProfile: APP_ARMOR_PROFILE,
});

const CONTAINER: StructShape = structShape('v1.Container', {
  name: text,
  image: text,
  command: listOf(text),
  args: listOf(text),
  workingDir: text,
  ports: listOf(CONTAINER_PORT),
  envFrom: listOf(ENV_FROM_SOURCE),
  env: listOf(ENV_VAR),
  resources: RESOURCE_REQUIREMENTS,
  resizePolicy: listOf(CONTAINER_RESIZE_POLICY),
  restartPolicy: textOf('v1.ContainerRestartPolicy'),
  restartPolicyRules: listOf(CONTAINER_RESTART_RULE),
  volumeMounts: listOf(VOLUME_MOUNT),
  volumeDevices: listOf(VOLUME_DEVICE),
  livenessProbe: PROBE,
  readinessProbe: PROBE,
  startupProbe: PROBE,
  lifecycle: LIFECYCLE,
  terminationMessagePath: text,
  terminationMessagePolicy: textOf('v1.TerminationMessagePolicy'),
  imagePullPolicy: textOf('v1.PullPolicy'),
  securityContext: SECURITY_CONTEXT,
  stdin: bool,
  stdinOnce: bool,
  tty: bool,
});

const EPHEMERAL_CONTAINER: StructShape = structShape('v1.EphemeralContainer', {
  name: text,
  image: text,
  command: listOf(text),
  args: listOf(text),
  workingDir: text,
  ports: listOf(CONTAINER_PORT),
  envFrom: listOf(ENV_FROM_SOURCE),
  env: listOf(ENV_VAR),
  resources: RESOURCE_REQUIREMENTS,
  resizePolicy: listOf(CONTAINER_RESIZE_POLICY),
  restartPolicy: textOf('v1.ContainerRestartPolicy'),
  restartPolicyRules: listOf(CONTAINER_RESTART_RULE),
  volumeMounts: listOf(VOLUME_MOUNT),
  volumeDevices: listOf(VOLUME_DEVICE),
  livenessProbe: PROBE,
  readinessProbe: PROBE,
  startupProbe: PROBE,
  lifecycle: LIFECYCLE,
  terminationMessagePath: text,
  terminationMessagePolicy: textOf('v1.TerminationMessagePolicy'),
  imagePullPolicy: textOf('v1.PullPolicy'),
  securityContext: SECURITY_CONTEXT,
  stdin: bool,
  stdinOnce: bool,
  tty: bool,
  targetContainerName: text,
});

const SYSCTL: StructShape = structShape('v1.Sysctl', { name: text, value: text });

const POD_SECURITY_CONTEXT: StructShape = structShape('v1.PodSecurityContext', {
  seLinuxOptions: SELINUX_OPTIONS,
  windowsOptions: WINDOWS_SECURITY_CONTEXT_OPTIONS,
  runAsUser: int64,
  runAsGroup: int64,
  runAsNonRoot: bool,
  supplementalGroups: listOf(int64),
  supplementalGroupsPolicy: textOf('v1.SupplementalGroupsPolicy'),
  fsGroup: int64,
  sysctls: listOf(SYSCTL),
  fsGroupChangePolicy: textOf('v1.PodFSGroupChangePolicy'),
  seccompProfile: SECCOMP_PROFILE,
  appArmorProfile: APP_ARMOR_PROFILE,
  seLinuxChangePolicy: textOf('v1.PodSELinuxChangePolicy'),
});

const NODE_SELECTOR_REQUIREMENT: StructShape = structShape('v1.NodeSelectorRequirement', {
  key: text,
  operator: textOf('v1.NodeSelectorOperator'),
  values: listOf(text),
});

const NODE_SELECTOR_TERM: StructShape = structShape('v1.NodeSelectorTerm', {
  matchExpressions: listOf(NODE_SELECTOR_REQUIREMENT),
  matchFields: listOf(NODE_SELECTOR_REQUIREMENT),
});

const NODE_SELECTOR: StructShape = structShape('v1.NodeSelector', {
  nodeSelectorTerms: listOf(NODE_SELECTOR_TERM),
});

const PREFERRED_SCHEDULING_TERM: StructShape = structShape('v1.PreferredSchedulingTerm', {
  weight: int32,
  preference: NODE_SELECTOR_TERM,
});

const NODE_AFFINITY: StructShape = structShape('v1.NodeAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: NODE_SELECTOR,
  preferredDuringSchedulingIgnoredDuringExecution: listOf(PREFERRED_SCHEDULING_TERM),
});

const POD_AFFINITY_TERM: StructShape = structShape('v1.PodAffinityTerm', {
  labelSelector: LABEL_SELECTOR,
  namespaces: listOf(text),
  topologyKey: text,
  namespaceSelector: LABEL_SELECTOR,
  matchLabelKeys: listOf(text),
  mismatchLabelKeys: listOf(text),
});

const WEIGHTED_POD_AFFINITY_TERM: StructShape = structShape('v1.WeightedPodAffinityTerm', {
  weight: int32,
  podAffinityTerm: POD_AFFINITY_TERM,
});

const POD_AFFINITY: StructShape = structShape('v1.PodAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: listOf(POD_AFFINITY_TERM),
  preferredDuringSchedulingIgnoredDuringExecution: listOf(WEIGHTED_POD_AFFINITY_TERM),
});

const POD_ANTI_AFFINITY: StructShape = structShape('v1.PodAntiAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: listOf(POD_AFFINITY_TERM),
  preferredDuringSchedulingIgnoredDuringExecution: listOf(WEIGHTED_POD_AFFINITY_TERM),
});

const AFFINITY: StructShape = structShape('v1.Affinity', {
  nodeAffinity: NODE_AFFINITY,
  podAffinity: POD_AFFINITY,
  podAntiAffinity: POD_ANTI_AFFINITY,
});

const TOLERATION: StructShape = structShape('v1.Toleration', {
  key: text,
  operator: textOf('v1.TolerationOperator'),
  value: text,
  effect: textOf('v1.TaintEffect'),
  tolerationSeconds: int64,
});

const HOST_ALIAS: StructShape = structShape('v1.HostAlias', { ip: text, hostnames: listOf(text) });

const POD_DNSCONFIG_OPTION: StructShape = structShape('v1.PodDNSConfigOption', { name: text, value: text });

const POD_DNSCONFIG: StructShape = structShape('v1.PodDNSConfig', {
  nameservers: listOf(text),
  searches: listOf(text),
  options: listOf(POD_DNSCONFIG_OPTION),
});

const POD_READINESS_GATE: StructShape = structShape('v1.PodReadinessGate', {
  conditionType: textOf('v1.PodConditionType'),
});

const TOPOLOGY_SPREAD_CONSTRAINT: StructShape = structShape('v1.TopologySpreadConstraint', {
  maxSkew: int32,
  topologyKey: text,
  whenUnsatisfiable: textOf('v1.UnsatisfiableConstraintAction'),
  labelSelector: LABEL_SELECTOR,
  minDomains: int32,
  nodeAffinityPolicy: textOf('v1.NodeInclusionPolicy'),
  nodeTaintsPolicy: textOf('v1.NodeInclusionPolicy'),
  matchLabelKeys: listOf(text),
});

const POD_OS: StructShape = structShape('v1.PodOS', { name: textOf('v1.OSName') });

const POD_SCHEDULING_GATE: StructShape = structShape('v1.PodSchedulingGate', { name: text });

const POD_RESOURCE_CLAIM: StructShape = structShape('v1.PodResourceClaim', {
  name: text,
  resourceClaimName: text,
  resourceClaimTemplateName: text,
});

const POD_SCHEDULING_GROUP: StructShape = structShape('v1.PodSchedulingGroup', { podGroupName: text });

const POD_SPEC: StructShape = structShape('v1.PodSpec', {
  volumes: listOf(VOLUME),
  initContainers: listOf(CONTAINER),
  containers: listOf(CONTAINER),
  ephemeralContainers: listOf(EPHEMERAL_CONTAINER),
  restartPolicy: textOf('v1.RestartPolicy'),
  terminationGracePeriodSeconds: int64,
  activeDeadlineSeconds: int64,
  dnsPolicy: textOf('v1.DNSPolicy'),
  nodeSelector: mapOf(text),
  serviceAccountName: text,
  serviceAccount: text,
  automountServiceAccountToken: bool,
  nodeName: text,
  hostNetwork: bool,
  hostPID: bool,
  hostIPC: bool,
  shareProcessNamespace: bool,
  securityContext: POD_SECURITY_CONTEXT,
  imagePullSecrets: listOf(LOCAL_OBJECT_REFERENCE),
  hostname: text,
  subdomain: text,
  affinity: AFFINITY,
  schedulerName: text,
  tolerations: listOf(TOLERATION),
  hostAliases: listOf(HOST_ALIAS),
  priorityClassName: text,
  priority: int32,
  dnsConfig: POD_DNSCONFIG,
  readinessGates: listOf(POD_READINESS_GATE),
  runtimeClassName: text,
  enableServiceLinks: bool,
  preemptionPolicy: textOf('v1.PreemptionPolicy'),
  overhead: mapOf(quantity),
  topologySpreadConstraints: listOf(TOPOLOGY_SPREAD_CONSTRAINT),
  setHostnameAsFQDN: bool,
  os: POD_OS,
  hostUsers: bool,
  schedulingGates: listOf(POD_SCHEDULING_GATE),
  resourceClaims: listOf(POD_RESOURCE_CLAIM),
  resources: RESOURCE_REQUIREMENTS,
  hostnameOverride: text,
  schedulingGroup: POD_SCHEDULING_GROUP,
});

const POD_TEMPLATE_SPEC: StructShape = structShape('v1.PodTemplateSpec', {
  metadata: OBJECT_META,
  spec: POD_SPEC,
});

const ROLLING_UPDATE_DEPLOYMENT: StructShape = structShape('v1.RollingUpdateDeployment', {
  maxUnavailable: intOrString,
  maxSurge: intOrString,
});

const DEPLOYMENT_STRATEGY: StructShape = structShape('v1.DeploymentStrategy', {
  type: textOf('v1.DeploymentStrategyType'),
  rollingUpdate: ROLLING_UPDATE_DEPLOYMENT,
});

/** `k8s.io/api/apps/v1.DeploymentSpec` */
export const DEPLOYMENT_SPEC: StructShape = structShape('v1.DeploymentSpec', {
  replicas: int32,
  selector: LABEL_SELECTOR,
  template: POD_TEMPLATE_SPEC,
  strategy: DEPLOYMENT_STRATEGY,
  minReadySeconds: int32,
  revisionHistoryLimit: int32,
  paused: bool,
  progressDeadlineSeconds: int32,
});

const EXTERNAL_DOCUMENTATION: StructShape = structShape('v1.ExternalDocumentation', {
  description: text,
  url: text,
});

const VALIDATION_RULE: StructShape = structShape('v1.ValidationRule', {
  rule: text,
  message: text,
  messageExpression: text,
  reason: textOf('v1.FieldValueErrorReason'),
  fieldPath: text,
  optionalOldSelf: bool,
});

const SCHEMA_FIELDS: Record<string, Shape> = {};
/** `k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaProps`, also of v1beta1. */
export const JSON_SCHEMA: StructShape = {
  kind: 'struct',
  name: 'v1.JSONSchemaProps',
  fields: SCHEMA_FIELDS,
  exactKeys: true,
};
const SCHEMA: StructShape = structShape('v1.JSONSchemaProps', {
  id: text,
  $schema: textOf('v1.JSONSchemaURL'),
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
  required: listOf(text),
  items: schemaOrArray,
  allOf: listOf(JSON_SCHEMA),
  oneOf: listOf(JSON_SCHEMA),
  anyOf: listOf(JSON_SCHEMA),
  not: JSON_SCHEMA,
  properties: mapOf(JSON_SCHEMA),
  additionalProperties: schemaOrBool,
  patternProperties: mapOf(JSON_SCHEMA),
  dependencies: mapOf(any),
  additionalItems: schemaOrBool,
  definitions: mapOf(JSON_SCHEMA),
  externalDocs: EXTERNAL_DOCUMENTATION,
  example: any,
  nullable: bool,
  'x-kubernetes-preserve-unknown-fields': bool,
  'x-kubernetes-embedded-resource': bool,
  'x-kubernetes-int-or-string': bool,
  'x-kubernetes-list-map-keys': listOf(text),
  'x-kubernetes-list-type': text,
  'x-kubernetes-map-type': text,
  'x-kubernetes-validations': listOf(VALIDATION_RULE),
});
Object.assign(SCHEMA_FIELDS, withExactKeys(SCHEMA).fields);

const CUSTOM_RESOURCE_DEFINITION_NAMES: StructShape = structShape('v1.CustomResourceDefinitionNames', {
  plural: text,
  singular: text,
  shortNames: listOf(text),
  kind: text,
  listKind: text,
  categories: listOf(text),
});

const CUSTOM_RESOURCE_VALIDATION: StructShape = structShape('v1.CustomResourceValidation', {
  openAPIV3Schema: JSON_SCHEMA,
});

const CUSTOM_RESOURCE_SUBRESOURCE_STATUS: StructShape = structShape('v1.CustomResourceSubresourceStatus', {});

const CUSTOM_RESOURCE_SUBRESOURCE_SCALE: StructShape = structShape('v1.CustomResourceSubresourceScale', {
  specReplicasPath: text,
  statusReplicasPath: text,
  labelSelectorPath: text,
});

const CUSTOM_RESOURCE_SUBRESOURCES: StructShape = structShape('v1.CustomResourceSubresources', {
  status: CUSTOM_RESOURCE_SUBRESOURCE_STATUS,
  scale: CUSTOM_RESOURCE_SUBRESOURCE_SCALE,
});

const CUSTOM_RESOURCE_COLUMN_DEFINITION: StructShape = structShape('v1.CustomResourceColumnDefinition', {
  name: text,
  type: text,
  format: text,
  description: text,
  priority: int32,
  jsonPath: text,
});

const SELECTABLE_FIELD: StructShape = structShape('v1.SelectableField', { jsonPath: text });

const CUSTOM_RESOURCE_DEFINITION_VERSION: StructShape = structShape('v1.CustomResourceDefinitionVersion', {
  name: text,
  served: bool,
  storage: bool,
  deprecated: bool,
  deprecationWarning: text,
  schema: CUSTOM_RESOURCE_VALIDATION,
  subresources: CUSTOM_RESOURCE_SUBRESOURCES,
  additionalPrinterColumns: listOf(CUSTOM_RESOURCE_COLUMN_DEFINITION),
  selectableFields: listOf(SELECTABLE_FIELD),
});

const SERVICE_REFERENCE: StructShape = structShape('v1.ServiceReference', {
  namespace: text,
  name: text,
  path: text,
  port: int32,
});

const WEBHOOK_CLIENT_CONFIG: StructShape = structShape('v1.WebhookClientConfig', {
  url: text,
  service: SERVICE_REFERENCE,
  caBundle: bytes,
});

const WEBHOOK_CONVERSION: StructShape = structShape('v1.WebhookConversion', {
  clientConfig: WEBHOOK_CLIENT_CONFIG,
  conversionReviewVersions: listOf(text),
});

const CUSTOM_RESOURCE_CONVERSION: StructShape = structShape('v1.CustomResourceConversion', {
  strategy: textOf('v1.ConversionStrategyType'),
  webhook: WEBHOOK_CONVERSION,
});

const CUSTOM_RESOURCE_DEFINITION_SPEC: StructShape = structShape('v1.CustomResourceDefinitionSpec', {
  group: text,
  names: CUSTOM_RESOURCE_DEFINITION_NAMES,
  scope: textOf('v1.ResourceScope'),
  versions: listOf(CUSTOM_RESOURCE_DEFINITION_VERSION),
  conversion: CUSTOM_RESOURCE_CONVERSION,
  preserveUnknownFields: bool,
});

const CUSTOM_RESOURCE_DEFINITION_CONDITION: StructShape = structShape(
  'v1.CustomResourceDefinitionCondition',
  {
    type: textOf('v1.CustomResourceDefinitionConditionType'),
    status: textOf('v1.ConditionStatus'),
    lastTransitionTime: time,
    reason: text,
    message: text,
    observedGeneration: int64,
  },
);

const CUSTOM_RESOURCE_DEFINITION_STATUS: StructShape = structShape('v1.CustomResourceDefinitionStatus', {
  conditions: listOf(CUSTOM_RESOURCE_DEFINITION_CONDITION),
  acceptedNames: CUSTOM_RESOURCE_DEFINITION_NAMES,
  storedVersions: listOf(text),
  observedGeneration: int64,
});

const CUSTOM_RESOURCE_DEFINITION: StructShape = structShape('v1.CustomResourceDefinition', {
  kind: text,
  apiVersion: text,
  metadata: OBJECT_META,
  spec: CUSTOM_RESOURCE_DEFINITION_SPEC,
  status: CUSTOM_RESOURCE_DEFINITION_STATUS,
});

/** `k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.CustomResourceDefinition` */
export const CRD_V1: StructShape = withExactKeys(CUSTOM_RESOURCE_DEFINITION);

const CUSTOM_RESOURCE_DEFINITION_NAMES_V1_BETA1: StructShape = structShape(
  'v1beta1.CustomResourceDefinitionNames',
  {
    plural: text,
    singular: text,
    shortNames: listOf(text),
    kind: text,
    listKind: text,
    categories: listOf(text),
  },
);

const CUSTOM_RESOURCE_VALIDATION_V1_BETA1: StructShape = structShape('v1beta1.CustomResourceValidation', {
  openAPIV3Schema: JSON_SCHEMA,
});

const CUSTOM_RESOURCE_SUBRESOURCE_STATUS_V1_BETA1: StructShape = structShape(
  'v1beta1.CustomResourceSubresourceStatus',
  {},
);

const CUSTOM_RESOURCE_SUBRESOURCE_SCALE_V1_BETA1: StructShape = structShape(
  'v1beta1.CustomResourceSubresourceScale',
  { specReplicasPath: text, statusReplicasPath: text, labelSelectorPath: text },
);

const CUSTOM_RESOURCE_SUBRESOURCES_V1_BETA1: StructShape = structShape('v1beta1.CustomResourceSubresources', {
  status: CUSTOM_RESOURCE_SUBRESOURCE_STATUS_V1_BETA1,
  scale: CUSTOM_RESOURCE_SUBRESOURCE_SCALE_V1_BETA1,
});

const CUSTOM_RESOURCE_COLUMN_DEFINITION_V1_BETA1: StructShape = structShape(
  'v1beta1.CustomResourceColumnDefinition',
  { name: text, type: text, format: text, description: text, priority: int32, JSONPath: text },
);

const SELECTABLE_FIELD_V1_BETA1: StructShape = structShape('v1beta1.SelectableField', { jsonPath: text });

const CUSTOM_RESOURCE_DEFINITION_VERSION_V1_BETA1: StructShape = structShape(
  'v1beta1.CustomResourceDefinitionVersion',
  {
    name: text,
    served: bool,
    storage: bool,
    deprecated: bool,
    deprecationWarning: text,
    schema: CUSTOM_RESOURCE_VALIDATION_V1_BETA1,
    subresources: CUSTOM_RESOURCE_SUBRESOURCES_V1_BETA1,
    additionalPrinterColumns: listOf(CUSTOM_RESOURCE_COLUMN_DEFINITION_V1_BETA1),
    selectableFields: listOf(SELECTABLE_FIELD_V1_BETA1),
  },
);

const SERVICE_REFERENCE_V1_BETA1: StructShape = structShape('v1beta1.ServiceReference', {
  namespace: text,
  name: text,
  path: text,
  port: int32,
});

const WEBHOOK_CLIENT_CONFIG_V1_BETA1: StructShape = structShape('v1beta1.WebhookClientConfig', {
  url: text,
  service: SERVICE_REFERENCE_V1_BETA1,
  caBundle: bytes,
});

const CUSTOM_RESOURCE_CONVERSION_V1_BETA1: StructShape = structShape('v1beta1.CustomResourceConversion', {
  strategy: textOf('v1beta1.ConversionStrategyType'),
  webhookClientConfig: WEBHOOK_CLIENT_CONFIG_V1_BETA1,
  conversionReviewVersions: listOf(text),
});

const CUSTOM_RESOURCE_DEFINITION_SPEC_V1_BETA1: StructShape = structShape(
  'v1beta1.CustomResourceDefinitionSpec',
  {
    group: text,
    version: text,
    names: CUSTOM_RESOURCE_DEFINITION_NAMES_V1_BETA1,
    scope: textOf('v1beta1.ResourceScope'),
    validation: CUSTOM_RESOURCE_VALIDATION_V1_BETA1,
    subresources: CUSTOM_RESOURCE_SUBRESOURCES_V1_BETA1,
    versions: listOf(CUSTOM_RESOURCE_DEFINITION_VERSION_V1_BETA1),
    additionalPrinterColumns: listOf(CUSTOM_RESOURCE_COLUMN_DEFINITION_V1_BETA1),
    selectableFields: listOf(SELECTABLE_FIELD_V1_BETA1),
    conversion: CUSTOM_RESOURCE_CONVERSION_V1_BETA1,
    preserveUnknownFields: bool,
  },
);

const CUSTOM_RESOURCE_DEFINITION_CONDITION_V1_BETA1: StructShape = structShape(
  'v1beta1.CustomResourceDefinitionCondition',
  {
    type: textOf('v1beta1.CustomResourceDefinitionConditionType'),
    status: textOf('v1beta1.ConditionStatus'),
    lastTransitionTime: time,
    reason: text,
    message: text,
    observedGeneration: int64,
  },
);

const CUSTOM_RESOURCE_DEFINITION_STATUS_V1_BETA1: StructShape = structShape(
  'v1beta1.CustomResourceDefinitionStatus',
  {
    conditions: listOf(CUSTOM_RESOURCE_DEFINITION_CONDITION_V1_BETA1),
    acceptedNames: CUSTOM_RESOURCE_DEFINITION_NAMES_V1_BETA1,
    storedVersions: listOf(text),
    observedGeneration: int64,
  },
);

const CUSTOM_RESOURCE_DEFINITION_V1_BETA1: StructShape = structShape('v1beta1.CustomResourceDefinition', {
  kind: text,
  apiVersion: text,
  metadata: OBJECT_META,
  spec: CUSTOM_RESOURCE_DEFINITION_SPEC_V1_BETA1,
  status: CUSTOM_RESOURCE_DEFINITION_STATUS_V1_BETA1,
});

/** `k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1.CustomResourceDefinition` */
export const CRD_V1BETA1: StructShape = withExactKeys(CUSTOM_RESOURCE_DEFINITION_V1_BETA1);
