/**
 * The APIs that a bundle provides and requires.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/pkg/registry/bundle.go
 */
import { isObject, listOf, type Path, type StructShape, structShape, text, textOf } from '../go/shape.ts';
import { type BundleObject, BundleRefusal, fitObject, type RegistryBundle } from './registry-bundle.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface Api {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
}

const KEYS = listOf(
  structShape('registry.DefinitionKey', { group: text, kind: text, name: text, version: text }),
);
const API_SECTIONS: StructShape = structShape('registry.definitions', { owned: KEYS, required: KEYS });

interface ApiDescription {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name: string;
}

type Section = 'customresourcedefinitions' | 'apiservicedefinitions';

/**
 * The APIs that a section of the ClusterServiceVersion says the operator owns or requires; none without the section.
 *
 * @throws BundleRefusal
 */
function apisIn(csv: BundleObject, section: Section, which: 'owned' | 'required'): ApiDescription[] {
  const spec = isObject(csv.value['spec']) ? csv.value['spec'] : {};
  const found = spec[section];
  if (found === undefined || found === null) return [];
  const list = fitObject(csv, API_SECTIONS, found)[which];
  if (!Array.isArray(list)) return [];
  return list.map((item: Fields | null, i) => {
    // opm reads pointers here, and ends where one is missing.
    if (item === null) throw nullRefusal(csv, ['spec', section, which, i]);
    return {
      group: textOf(item['group']),
      version: textOf(item['version']),
      kind: textOf(item['kind']),
      name: textOf(item['name']),
    };
  });
}

/** The refusal of a list with a null item. */
function nullRefusal({ document }: BundleObject, path: Path): BundleRefusal {
  const message = `${path.join('.')}: found null, expected a mapping: opm ends with a panic`;
  return new BundleRefusal('csv/null-api', message, document.locate(path));
}

/** Every API that the CRDs in the bundle serve, and the API services that it owns. @throws BundleRefusal */
export function providedApis({ csv, objects }: Pick<RegistryBundle, 'csv' | 'objects'>): Api[] {
  const services = apisIn(csv, 'apiservicedefinitions', 'owned');
  return [
    ...objects.filter(({ kind }) => kind === 'CustomResourceDefinition').flatMap(crdApis),
    ...services.map(({ name, ...gvk }) => ({ ...gvk, plural: name })),
  ];
}

/** The APIs that a CRD defines, one for each of its versions. opm decodes only CRDs of v1 and v1beta1. */
function crdApis({ value, version }: BundleObject): Api[] {
  if (version !== 'v1' && version !== 'v1beta1') return [];
  const spec = isObject(value['spec']) ? value['spec'] : {};
  const names = isObject(spec['names']) ? spec['names'] : {};
  const versions = Array.isArray(spec['versions'])
    ? spec['versions'].map((item) => (isObject(item) ? textOf(item['name']) : ''))
    : [];
  // Before CRDs had lists of versions, they named a single one.
  const single = version === 'v1beta1' ? textOf(spec['version']) : '';
  const api = { group: textOf(spec['group']), kind: textOf(names['kind']), plural: textOf(names['plural']) };
  return [...versions, ...(single === '' ? [] : [single])].map((name) => ({ ...api, version: name }));
}

/**
 * The APIs that a ClusterServiceVersion requires.
 *
 * @throws BundleRefusal when a required CRD has a name without a group
 */
export function requiredApis({ csv }: Pick<RegistryBundle, 'csv'>): Api[] {
  return [
    ...apisIn(csv, 'customresourcedefinitions', 'required').map((crd) => crdApi(csv, crd)),
    ...apisIn(csv, 'apiservicedefinitions', 'required').map(({ name, ...gvk }) => ({
      ...gvk,
      plural: name,
    })),
  ];
}

/**
 * The API of a CRD, whose name is `plural.group`.
 *
 * @throws BundleRefusal for a name without a dot
 */
function crdApi(csv: BundleObject, { name, version, kind }: ApiDescription): Api {
  const dot = name.indexOf('.');
  if (dot < 0) {
    const location = csv.document.locate(['spec', 'customresourcedefinitions']);
    const message = `custom resource definition ${JSON.stringify(name)}: expected a name such as plural.group`;
    throw new BundleRefusal('csv/crd-name', message, location);
  }
  return { group: name.slice(dot + 1), version, kind, plural: name.slice(0, dot) };
}

/**
 * Checks that a bundle defines the CRDs that its ClusterServiceVersion owns.
 *
 * @throws BundleRefusal for one that it does not define
 */
export function checkOwned(bundle: Pick<RegistryBundle, 'csv' | 'objects'>): void {
  const { csv } = bundle;
  const provided = new Set(providedApis(bundle).map(apiText));
  for (const owned of apisIn(csv, 'customresourcedefinitions', 'owned')) {
    const api = apiText(crdApi(csv, owned));
    if (provided.has(api)) continue;
    const location = csv.document.locate(['spec', 'customresourcedefinitions', 'owned']);
    const found = provided.size === 0 ? 'none' : [...provided].sort().join(', ');
    const message = `${JSON.stringify(csv.name)} owns ${api}, which the bundle does not define; it defines: ${found}`;
    throw new BundleRefusal('crd/owned-missing', message, location);
  }
}

/** `group/version/Kind (plural)` */
function apiText({ group, version, kind, plural }: Api): string {
  return `${group}/${version}/${kind} (${plural})`;
}
