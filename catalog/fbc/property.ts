/**
 * The properties of bundles that OLM knows, and the Go types they are decoded into.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/property/property.go
 */
import {
  any,
  bool,
  bytes,
  fitStruct,
  int32,
  listOf,
  mapOf,
  type StructShape,
  structShape,
  text,
} from '../go/shape.ts';

const RESOURCE = structShape('v1alpha1.APIResourceReference', { name: text, kind: text, version: text });

/** The shape of one of the three lists of descriptors in a ClusterServiceVersion. */
function descriptors(name: string): StructShape {
  return structShape(name, {
    path: text,
    displayName: text,
    description: text,
    'x-descriptors': listOf(text),
    value: any,
  });
}

const DESCRIBED = {
  displayName: text,
  description: text,
  resources: listOf(RESOURCE),
  statusDescriptors: listOf(descriptors('v1alpha1.StatusDescriptor')),
  specDescriptors: listOf(descriptors('v1alpha1.SpecDescriptor')),
  actionDescriptors: listOf(descriptors('v1alpha1.ActionDescriptor')),
};

const CRD_DESCRIPTION = structShape('v1alpha1.CRDDescription', {
  name: text,
  version: text,
  kind: text,
  ...DESCRIBED,
});

const API_SERVICE_DESCRIPTION = structShape('v1alpha1.APIServiceDescription', {
  name: text,
  group: text,
  version: text,
  kind: text,
  deploymentName: text,
  containerPort: int32,
  ...DESCRIBED,
});

export const LINK: StructShape = structShape('v1alpha1.AppLink', { name: text, url: text });
export const INSTALL_MODE: StructShape = structShape('v1alpha1.InstallMode', {
  type: { kind: 'string', goName: 'v1alpha1.InstallModeType' },
  supported: bool,
});
export const MAINTAINER: StructShape = structShape('v1alpha1.Maintainer', { name: text, email: text });
const GVK = { group: text, kind: text, version: text };
export const GROUP_VERSION_KIND: StructShape = structShape('v1.GroupVersionKind', GVK);

export const CRD_DESCRIPTIONS: StructShape = structShape('v1alpha1.CustomResourceDefinitions', {
  owned: listOf(CRD_DESCRIPTION),
  required: listOf(CRD_DESCRIPTION),
});
export const API_SERVICE_DESCRIPTIONS: StructShape = structShape('v1alpha1.APIServiceDefinitions', {
  owned: listOf(API_SERVICE_DESCRIPTION),
  required: listOf(API_SERVICE_DESCRIPTION),
});

const PACKAGE = structShape('property.Package', { packageName: text, version: text, release: text });

/** The Go type of a property's value, by property type. Other properties may hold any JSON. */
export const PROPERTY_SHAPES: ReadonlyMap<string, StructShape> = new Map([
  ['olm.package', PACKAGE],
  [
    'olm.package.required',
    structShape('property.PackageRequired', { packageName: text, versionRange: text }),
  ],
  ['olm.gvk', structShape('property.GVK', GVK)],
  ['olm.gvk.required', structShape('property.GVKRequired', GVK)],
  ['olm.bundle.object', structShape('property.BundleObject', { data: bytes })],
  ['olm.channel', structShape('property.Channel', { channelName: text })],
  [
    'olm.csv.metadata',
    structShape('property.CSVMetadata', {
      annotations: mapOf(text),
      apiServiceDefinitions: API_SERVICE_DESCRIPTIONS,
      crdDescriptions: CRD_DESCRIPTIONS,
      description: text,
      displayName: text,
      installModes: listOf(INSTALL_MODE),
      keywords: listOf(text),
      labels: mapOf(text),
      links: listOf(LINK),
      maintainers: listOf(MAINTAINER),
      maturity: text,
      minKubeVersion: text,
      nativeAPIs: listOf(GROUP_VERSION_KIND),
      provider: LINK,
    }),
  ],
]);

/** The value of an `olm.package` property; undefined if it is not a string, which `bundle/property` reports. */
interface PackageProperty {
  readonly packageName: string | undefined;
  readonly version: string | undefined;
  readonly release: string | undefined;
}

/** Reads an `olm.package` property, its keys in whatever case; what is not there is the empty text. */
export function packageProperty(value: unknown): PackageProperty {
  const { value: fields, misfits } = fitStruct(value ?? {}, PACKAGE);
  const written = (field: unknown): string | undefined => {
    if (typeof field === 'string') return field;
    return misfits.length > 0 ? undefined : '';
  };
  return {
    packageName: written(fields['packageName']),
    version: written(fields['version']),
    release: written(fields['release']),
  };
}
