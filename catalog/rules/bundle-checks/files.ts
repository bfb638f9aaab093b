/** Checks of a bundle's files, before their content is checked. */
import type { Fields, Inspected } from '../../bundle/inspect.ts';
import {
  firstValue,
  hasEscapedSurrogates,
  isJsonAlone,
  kindOf,
  type ManifestFile,
  readManifestFile,
} from '../../bundle/manifest.ts';
import { fileName, isDirect } from '../../bundle/read.ts';
import { type BundleObject, foldedMember, itemsOf } from '../../bundle/registry-bundle.ts';
import { secondReading } from '../../bundle/second-reading.ts';
import { startOf } from '../../finding.ts';
import { OBJECT_META } from '../../go/kubernetes-types.ts';
import { fitStruct, isObject, type Misfit, type Path, structShape, text } from '../../go/shape.ts';
import { jsonText } from '../../json.ts';
import { SKIPPED_LINKS } from '../../source.ts';
import type { Report } from '../rule.ts';

export function checkFolders({ files }: Inspected, report: Report): void {
  for (const folder of ['manifests', 'metadata'] as const) {
    if (files[folder].length === 0) {
      report(`the bundle has no files in ${folder}/`, startOf(folder), {
        hint: `create the folders manifests/ and metadata/`,
      });
    }
  }
}

export function checkCsvPresent({ csv, files }: Inspected, report: Report): void {
  if (csv || files.manifests.length === 0) return;
  report('manifests/ has no readable ClusterServiceVersion', startOf('manifests'), {
    hint: 'add a file to manifests/ whose first document is a ClusterServiceVersion',
  });
}

export function checkSingleCsv({ objects }: Inspected, report: Report): void {
  const [first, ...others] = objects.filter(({ kind }) => kind === 'ClusterServiceVersion');
  for (const other of others) {
    const message = `the bundle has a second ClusterServiceVersion, ${JSON.stringify(other.name)}, besides ${JSON.stringify(first?.name)}`;
    report(message, other.document.locate(['metadata', 'name']), {
      hint: 'create one bundle for each version',
    });
  }
}

export function checkSubfolders({ files }: Inspected, report: Report): void {
  const folders = new Set(
    files.manifests.filter((file) => !isDirect(file)).map(({ path }) => path.split('/')[1] ?? ''),
  );
  for (const folder of folders) {
    report(
      `manifests/ has the folder ${JSON.stringify(folder)}, which OLM and opm do not read`,
      startOf(`manifests/${folder}`),
      {
        hint: 'move its files to manifests/, or out of the bundle',
      },
    );
  }
}

export function checkHiddenFiles({ manifests }: Inspected, report: Report): void {
  for (const file of manifests) {
    if (!fileName(file).startsWith('.')) continue;
    report(`manifests/ has the hidden file ${JSON.stringify(fileName(file))}`, startOf(file.path), {
      hint: 'remove it',
    });
  }
}

export function checkReadable({ manifests, files }: Inspected, report: Report): void {
  for (const { path, why } of files.unreadable) {
    // Tools skip such links in metadata/.
    const isSkipped = path.startsWith('metadata/') && SKIPPED_LINKS.includes(why);
    report(why, startOf(path), isSkipped ? { severity: 'warning' } : {});
  }
  for (const file of manifests) {
    const [first] = file.documents;
    if (!first) report('the file is empty', startOf(file.path), { hint: 'remove it' });
    else if (first.kind === 'unread') report(first.message, first.location);
    else if (!kindOf(first.value)) {
      const found = isObject(first.value) ? 'an object without a kind' : `no object`;
      report(`expected a manifest, found ${found}`, first.document.locate([]), {
        hint: 'keep only Kubernetes objects in manifests/',
      });
    } else if (isJsonAlone(file) && !READ_AS_JSON.has(kindOf(first.value)?.kind ?? '')) {
      const message = `the JSON is not YAML (${whyAlone(file)}): opm and operator-sdk read it as YAML, and fail`;
      report(message, first.document.locate([]), { hint: AS_YAML });
    }
  }
}

/** Kinds of which opm takes JSON for JSON. */
const READ_AS_JSON: ReadonlySet<string> = new Set(['ClusterServiceVersion', 'CustomResourceDefinition']);
const AS_YAML = 'write the file as YAML, or write such characters themselves';

/** What keeps JSON from being YAML. */
function whyAlone(file: ManifestFile): string {
  return hasEscapedSurrogates(file)
    ? 'surrogate pairs as escapes'
    : 'control characters, or keys of more than 1,024 characters';
}

export function checkJsonIsYaml({ manifests }: Inspected, report: Report): void {
  for (const file of manifests) {
    const first = firstValue(file);
    if (!first || !isJsonAlone(file) || !READ_AS_JSON.has(kindOf(first.value)?.kind ?? '')) continue;
    const message = `the JSON is not YAML (${whyAlone(file)}): operator-sdk and preflight read it as YAML, and fail`;
    report(message, first.document.locate([]), { hint: AS_YAML });
  }
}

export function checkLostDocuments({ manifests }: Inspected, report: Report): void {
  for (const file of manifests) {
    const [, second] = file.documents;
    if (second?.kind !== 'value' || second.value === null) continue;
    report(
      'OLM v0 and opm read only the first document of a file and ignore this one',
      second.document.locate([]),
      {
        hint: 'move it to a separate file',
      },
    );
  }
}

export function checkObjectsOnce({ objects }: Inspected, report: Report): void {
  const seen = new Set<string>();
  for (const { group, kind, name, document, value } of objects) {
    const metadata = isObject(value['metadata']) ? value['metadata'] : {};
    const key = jsonText([group, kind, metadata['namespace'] ?? '', name]);
    // Another rule reports a second ClusterServiceVersion.
    if (seen.has(key) && kind !== 'ClusterServiceVersion') {
      report(`a second ${kind} ${JSON.stringify(name)}`, document.locate(['metadata', 'name']));
    }
    seen.add(key);
  }
}

/** @see https://github.com/operator-framework/operator-registry/blob/master/pkg/lib/bundle/supported_resources.go */
const SUPPORTED: ReadonlySet<string> = new Set([
  'ClusterServiceVersion',
  'CustomResourceDefinition',
  'ClusterRole',
  'ClusterRoleBinding',
  'Service',
  'ServiceAccount',
  'Role',
  'RoleBinding',
  'PrometheusRule',
  'ServiceMonitor',
  'Secret',
  'ConfigMap',
  'PodDisruptionBudget',
  'PriorityClass',
  'VerticalPodAutoscaler',
  'ConsoleYAMLSample',
  'ConsoleQuickStart',
  'ConsoleCLIDownload',
  'ConsoleLink',
  'ConsolePlugin',
  'NetworkPolicy',
  'PodMonitor',
]);

export function checkKinds({ objects, allObjects }: Inspected, report: Report): void {
  // Only OLM v1 reads the items of lists.
  const lists = objects.filter((object) => itemsOf(object));
  for (const { kind, name, document } of [...lists, ...allObjects]) {
    if (SUPPORTED.has(kind)) continue;
    const message = `OLM does not install a ${kind} from a bundle, found ${JSON.stringify(name)}`;
    report(message, document.locate(['kind']), { hint: 'create it from the operator' });
  }
}

/** A qualified name of Kubernetes: at most 63 characters, perhaps behind a DNS name and a slash. */
const QUALIFIED =
  /^(?:([a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*)\/)?([A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Most bytes of all annotations of an object, keys and values together: `TotalAnnotationSizeLimitB` of Kubernetes. */
const MOST_ANNOTATIONS = 256 * 1024;

/** How many bytes the keys and values of annotations have in UTF-8. */
function textBytes(annotations: unknown): number {
  const encoder = new TextEncoder();
  return Object.entries(isObject(annotations) ? annotations : {})
    .map(([key, value]) => encoder.encode(`${key}${String(value)}`).length)
    .reduce((sum, bytes) => sum + bytes, 0);
}

/** The fields that identify every object. */
const TYPED = structShape('v1.PartialObjectMetadata', {
  apiVersion: text,
  kind: text,
  metadata: OBJECT_META,
});

/** Makes a check of the metadata of each object; other rules report the ClusterServiceVersion and kinds that OLM does not install. */
function eachMetadata(
  check: (object: BundleObject, misfits: readonly Misfit[], say: Say) => void,
): (bundle: Inspected, report: Report) => void {
  return ({ objects }, report) => {
    for (const object of objects) {
      if (object.kind === 'ClusterServiceVersion' || !SUPPORTED.has(object.kind)) continue;
      const what = `${object.kind} ${JSON.stringify(object.name)}`;
      check(object, fitStruct(object.value, TYPED).misfits, (path, message) =>
        report(`${what}: ${path.join('.')} ${message}`, object.document.locate(path)),
      );
    }
  };
}

/** The types of CRDs are another rule's. operator-sdk does not look at those of other objects. */
export const checkMetadataTypes: (bundle: Inspected, report: Report) => void = eachMetadata(
  ({ kind }, misfits, say) => {
    if (kind === 'CustomResourceDefinition') return;
    for (const { path, expected, found } of misfits) say(path, `must be ${expected}, found ${found}`);
  },
);

export const checkMetadata: (bundle: Inspected, report: Report) => void = eachMetadata(
  (object, misfits, say) => {
    const isCrd = object.kind === 'CustomResourceDefinition';
    // A field of another type is a field that is absent; of CRDs, operator-sdk reads numbers as text.
    const unread = new Set(isCrd ? [] : misfits.map(({ path }) => path[1]));
    const written = isObject(object.value['metadata']) ? object.value['metadata'] : {};
    const metadata = Object.fromEntries(Object.entries(written).filter(([key]) => !unread.has(key)));
    checkPlace(metadata, isCrd, say);
    checkTexts(metadata, say);
    checkOwners(metadata, say);
  },
);

type Say = (path: Path, message: string) => void;
type Metadata = Readonly<Record<string, unknown>>;

/** Reports a namespace, a missing name or a wrong generation. */
function checkPlace(metadata: Metadata, isCrd: boolean, say: Say): void {
  if (metadata['namespace'] !== undefined && metadata['namespace'] !== '') {
    const why = isCrd ? 'CRDs are not namespaced' : "OLM creates the object in the operator's namespace";
    say(['metadata', 'namespace'], `must not be set: ${why}`);
  }
  // Another rule checks the names of CRDs.
  if (!isCrd && (metadata['name'] ?? '') === '') say(['metadata', 'name'], 'is missing');
  if (typeof metadata['generation'] === 'number' && metadata['generation'] < 0)
    say(['metadata', 'generation'], 'must not be negative');
}

/** Reports labels, annotations and finalizers that the API server refuses. */
function checkTexts(metadata: Metadata, say: Say): void {
  if (textBytes(metadata['annotations']) > MOST_ANNOTATIONS)
    say(['metadata', 'annotations'], `has more than ${MOST_ANNOTATIONS >> 10} KiB`);
  for (const field of ['labels', 'annotations'] as const) {
    for (const [key, value] of Object.entries(isObject(metadata[field]) ? metadata[field] : {})) {
      // The API server checks the keys of annotations in lower case.
      const name = field === 'annotations' ? key.toLowerCase() : key;
      if (!QUALIFIED.test(name))
        say(['metadata', field], `has the key ${JSON.stringify(key)}, which is not a qualified name`);
      else if (field === 'labels' && !LABEL_VALUE.test(String(value)))
        say(['metadata', field], `has the value ${jsonText(value)}, which is not a valid label value`);
    }
  }
  const finalizers = Array.isArray(metadata['finalizers']) ? metadata['finalizers'] : [];
  for (const finalizer of finalizers) {
    if (!QUALIFIED.test(String(finalizer)))
      say(['metadata', 'finalizers'], `has ${jsonText(finalizer)}, which is not a qualified name`);
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion'))
    say(['metadata', 'finalizers'], 'must not have both orphan and foregroundDeletion');
}

/** Reports owner references and managed fields that the API server refuses. */
function checkOwners(metadata: Metadata, say: Say): void {
  const owners = Array.isArray(metadata['ownerReferences']) ? metadata['ownerReferences'] : [];
  for (const [i, owner] of owners.entries()) {
    const lacks = ['apiVersion', 'kind', 'name', 'uid'].filter((field) => (owner[field] ?? '') === '');
    if (lacks.length > 0) say(['metadata', 'ownerReferences', i], `lacks ${lacks.join(', ')}`);
    if (owner['kind'] === 'Event' && owner['apiVersion'] === 'v1')
      say(['metadata', 'ownerReferences', i], 'must not be an Event');
  }
  if (owners.filter((owner) => owner['controller'] === true).length > 1)
    say(['metadata', 'ownerReferences'], 'must have one controller at most');
  const managers = Array.isArray(metadata['managedFields']) ? metadata['managedFields'] : [];
  for (const [i, manager] of managers.entries()) {
    if (manager['operation'] !== 'Apply' && manager['operation'] !== 'Update')
      say(['metadata', 'managedFields', i], 'must be of the operation Apply or Update');
  }
}

/** ClusterServiceVersions and CRDs that operator-sdk reads twice, the second time from the wrong place. */
export function checkMixedDocuments({ manifests, csv, crds }: Inspected, report: Report): void {
  for (const { path, bytes, documents } of manifests) {
    const [, next] = documents;
    // Few files have more than one.
    if (!next) continue;
    const object = [...(csv ? [csv.object] : []), ...crds].find(({ document }) => document.file === path);
    const second = object && secondReading(bytes);
    if (!object || !second) continue;
    const [read] = readManifestFile(path, second).documents;
    const isRead = read?.kind === 'value' && isObject(read.value);
    if (isRead && isSameObject(object, read.value)) continue;
    const message = isRead
      ? `operator-sdk reads this document in the place of the ${object.kind} ${JSON.stringify(object.name)} before it`
      : 'operator-sdk cannot read the file: its loader mixes the first document with the next ones';
    const place = next.kind === 'unread' ? next.location : isRead ? next.document.locate([]) : startOf(path);
    report(message, place, { hint: 'keep one document in the file' });
  }
}

/** Whether what operator-sdk reads still passes for the object: a complete ClusterServiceVersion, or a CRD for the same kind. */
function isSameObject({ kind, value }: BundleObject, read: Fields): boolean {
  if (kind === 'ClusterServiceVersion')
    return (
      isObject(foldedMember(read, 'spec')) &&
      foldedMember(read, 'apiVersion') !== undefined &&
      foldedMember(read, 'kind') === kind
    );
  const definedIn = (crd: Fields): unknown[] => {
    const spec = foldedFields(crd, 'spec');
    return [foldedMember(spec, 'group'), foldedMember(foldedFields(spec, 'names'), 'kind')];
  };
  const [group, name] = definedIn(value);
  const [readGroup, readName] = definedIn(read);
  return group === readGroup && name === readName;
}

function foldedFields(object: Fields, key: string): Fields {
  const found = foldedMember(object, key);
  return isObject(found) ? found : {};
}
