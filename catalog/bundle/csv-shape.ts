/**
 * The ClusterServiceVersion as a shape.
 *
 * @see https://github.com/operator-framework/api/blob/master/pkg/operators/v1alpha1/clusterserviceversion_types.go
 */
import {
  API_SERVICE_DESCRIPTIONS,
  CRD_DESCRIPTIONS,
  GROUP_VERSION_KIND,
  INSTALL_MODE,
  LINK,
  MAINTAINER,
} from '../fbc/property.ts';
import { intOrString, textOf, time } from '../go/kubernetes-readers.ts';
import { DEPLOYMENT_SPEC, LABEL_SELECTOR, OBJECT_META, POLICY_RULE } from '../go/kubernetes-types.ts';
import {
  bool,
  type CheckedShape,
  int32,
  listOf,
  mapOf,
  type StructShape,
  structShape,
  text,
} from '../go/shape.ts';
import { parseRelease, parseTolerant, VersionError } from '../version/version.ts';

/**
 * The shape of a text that a Go type parses, such as a version.
 *
 * @param parse what the Go type does: its errors have Go's words
 */
function parsedTextShape(goName: string, expected: string, parse: (text: string) => unknown): CheckedShape {
  return {
    kind: 'checked',
    goName,
    expected,
    readsNull: true,
    refusal: (written) => {
      // Go reads null as the empty text.
      const value = written ?? '';
      if (typeof value !== 'string') return `json: cannot unmarshal value into Go value of type string`;
      try {
        parse(value);
        return undefined;
      } catch (error) {
        if (error instanceof VersionError) return error.message;
        throw error;
      }
    },
  };
}

const RELEASE =
  'text such as "1": letters, digits and -, separated by dots, without leading zeros, at most 20 characters';

/** Checks a release that must not be empty. @throws VersionError */
function checkFilledRelease(text: string): void {
  if (text === '') throw new VersionError('Prerelease is empty');
  parseRelease(text);
}

const PERMISSIONS = listOf(
  structShape('v1alpha1.StrategyDeploymentPermissions', {
    serviceAccountName: text,
    rules: listOf(POLICY_RULE),
  }),
);

const texts = listOf(text);

const WEBHOOK = structShape('v1alpha1.WebhookDescription', {
  generateName: text,
  type: text,
  deploymentName: text,
  containerPort: int32,
  targetPort: intOrString,
  rules: listOf(
    structShape('v1.RuleWithOperations', {
      operations: texts,
      apiGroups: texts,
      apiVersions: texts,
      resources: texts,
      scope: text,
    }),
  ),
  failurePolicy: text,
  matchPolicy: text,
  objectSelector: LABEL_SELECTOR,
  sideEffects: text,
  timeoutSeconds: int32,
  admissionReviewVersions: texts,
  reinvocationPolicy: text,
  webhookPath: text,
  conversionCRDs: texts,
});

const SPEC = structShape('v1alpha1.ClusterServiceVersionSpec', {
  install: structShape('v1alpha1.NamedInstallStrategy', {
    strategy: text,
    spec: structShape('v1alpha1.StrategyDetailsDeployment', {
      deployments: listOf(
        structShape('v1alpha1.StrategyDeploymentSpec', {
          name: text,
          spec: DEPLOYMENT_SPEC,
          label: mapOf(text),
        }),
      ),
      permissions: PERMISSIONS,
      clusterPermissions: PERMISSIONS,
    }),
  }),
  version: parsedTextShape('version.OperatorVersion', 'a semantic version such as "1.0.0"', parseTolerant),
  release: parsedTextShape('release.OperatorRelease', RELEASE, checkFilledRelease),
  maturity: text,
  customresourcedefinitions: CRD_DESCRIPTIONS,
  apiservicedefinitions: API_SERVICE_DESCRIPTIONS,
  webhookdefinitions: listOf(WEBHOOK),
  nativeAPIs: listOf(GROUP_VERSION_KIND),
  minKubeVersion: text,
  displayName: text,
  description: text,
  keywords: texts,
  maintainers: listOf(MAINTAINER),
  provider: LINK,
  links: listOf(LINK),
  icon: listOf(structShape('v1alpha1.Icon', { base64data: text, mediatype: text })),
  installModes: listOf(INSTALL_MODE),
  replaces: text,
  labels: mapOf(text),
  annotations: mapOf(text),
  selector: LABEL_SELECTOR,
  cleanup: structShape('v1alpha1.CleanupSpec', { enabled: bool }),
  skips: texts,
  relatedImages: listOf(structShape('v1alpha1.RelatedImage', { name: text, image: text })),
});

const CONDITION = {
  phase: textOf('v1alpha1.ClusterServiceVersionPhase'),
  message: text,
  reason: textOf('v1alpha1.ConditionReason'),
  lastUpdateTime: time,
  lastTransitionTime: time,
};

const DEPENDENT = {
  group: text,
  version: text,
  kind: text,
  status: textOf('v1alpha1.StatusReason'),
  uuid: text,
  message: text,
};

/** What clusters write; the tools read it in a bundle, too. */
const STATUS = structShape('v1alpha1.ClusterServiceVersionStatus', {
  ...CONDITION,
  conditions: listOf(structShape('v1alpha1.ClusterServiceVersionCondition', CONDITION)),
  requirementStatus: listOf(
    structShape('v1alpha1.RequirementStatus', {
      ...DEPENDENT,
      name: text,
      dependents: listOf(structShape('v1alpha1.DependentStatus', DEPENDENT)),
    }),
  ),
  certsLastUpdated: time,
  certsRotateAt: time,
  cleanup: structShape('v1alpha1.CleanupStatus', {
    pendingDeletion: listOf(
      structShape('v1alpha1.ResourceList', {
        group: text,
        kind: text,
        instances: listOf(structShape('v1alpha1.ResourceInstance', { name: text, namespace: text })),
      }),
    ),
  }),
});

/** `v1alpha1.ClusterServiceVersion` */
export const CSV: StructShape = structShape('v1alpha1.ClusterServiceVersion', {
  kind: text,
  apiVersion: text,
  metadata: OBJECT_META,
  spec: SPEC,
  status: STATUS,
});

/** What opm knows of a ClusterServiceVersion beyond its spec. */
export const CSV_META: StructShape = structShape('registry.ClusterServiceVersion', {
  kind: text,
  apiVersion: text,
  metadata: OBJECT_META,
});

/** What opm reads of the spec to find the images that the operator runs. */
export const CSV_DEPLOYMENTS: StructShape = structShape('registry.csvSpec', {
  Install: structShape('registry.strategy', {
    strategy: text,
    spec: structShape('registry.strategySpec', {
      Deployments: listOf(structShape('registry.dep', { Name: text, Spec: DEPLOYMENT_SPEC })),
    }),
  }),
});
