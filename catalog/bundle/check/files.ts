/** What the files of a bundle must be, before anybody looks into them. */
import type { Report } from '../../rules/rule.ts';
import { isObject } from '../../shape.ts';
import type { Inspected } from '../inspect.ts';
import { kindOf } from '../manifest.ts';
import { fileName, isDirect } from '../read.ts';
import { itemsOf } from '../registry-bundle.ts';

export function checkFolders({ files }: Inspected, report: Report): void {
  for (const folder of ['manifests', 'metadata'] as const) {
    if (files[folder].length === 0) {
      report(`the bundle has no files in ${folder}/`, start(folder), {
        hint: `a bundle has the folders manifests/ and metadata/`,
      });
    }
  }
}

function start(file: string): { file: string; line: number; column: number } {
  return { file, line: 1, column: 1 };
}

export function checkCsvPresent({ csv, files }: Inspected, report: Report): void {
  if (csv || files.manifests.length === 0) return;
  report('manifests/ holds no ClusterServiceVersion that can be read', start('manifests'), {
    hint: 'one file of manifests/ begins with a document of the kind ClusterServiceVersion',
  });
}

export function checkSingleCsv({ objects }: Inspected, report: Report): void {
  const [first, ...others] = objects.filter(({ kind }) => kind === 'ClusterServiceVersion');
  for (const other of others) {
    const message = `a second ClusterServiceVersion ${JSON.stringify(other.name)}: ${JSON.stringify(first?.name)} is there already`;
    report(message, other.document.locate(['metadata', 'name']), { hint: 'a bundle is one version' });
  }
}

export function checkSubfolders({ files }: Inspected, report: Report): void {
  const folders = new Set(
    files.manifests.filter((file) => !isDirect(file)).map(({ path }) => path.split('/')[1] ?? ''),
  );
  for (const folder of folders) {
    report(
      `manifests/ has the folder ${JSON.stringify(folder)}, which no tool reads`,
      start(`manifests/${folder}`),
      {
        hint: 'move its files up, or out of the bundle',
      },
    );
  }
}

export function checkHiddenFiles({ manifests }: Inspected, report: Report): void {
  for (const file of manifests) {
    if (!fileName(file).startsWith('.')) continue;
    report(`manifests/ has the hidden file ${JSON.stringify(fileName(file))}`, start(file.path), {
      hint: 'remove it',
    });
  }
}

export function checkReadable({ manifests, files }: Inspected, report: Report): void {
  for (const { path, why } of files.unreadable) report(why, start(path));
  for (const file of manifests) {
    const [first] = file.documents;
    if (!first) report('the file is empty', start(file.path), { hint: 'remove it' });
    else if (first.kind === 'unread') report(first.message, first.location);
    else if (!kindOf(first.value)) {
      const found = isObject(first.value) ? 'an object without a kind' : `no object`;
      report(`expected a manifest, found ${found}`, first.document.locate([]), {
        hint: 'manifests/ holds Kubernetes objects only',
      });
    }
  }
}

export function checkLostDocuments({ manifests }: Inspected, report: Report): void {
  for (const file of manifests) {
    const [, second] = file.documents;
    if (second?.kind !== 'value' || second.value === null) continue;
    report(
      'OLM v0 and opm read only the first document of a file; this one is lost',
      second.document.locate([]),
      {
        hint: 'put it into a file of its own',
      },
    );
  }
}

export function checkObjectsOnce({ objects }: Inspected, report: Report): void {
  const seen = new Set<string>();
  for (const { group, kind, name, document, value } of objects) {
    const metadata = isObject(value['metadata']) ? value['metadata'] : {};
    const key = JSON.stringify([group, kind, metadata['namespace'] ?? '', name]);
    if (seen.has(key) && kind !== 'ClusterServiceVersion') {
      report(`a second ${kind} ${JSON.stringify(name)}`, document.locate(['metadata', 'name']));
    }
    seen.add(key);
  }
}

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
  // Only OLM v1 looks into lists.
  const lists = objects.filter((object) => itemsOf(object));
  for (const { kind, name, document } of [...lists, ...allObjects]) {
    if (SUPPORTED.has(kind)) continue;
    const message = `OLM installs no ${kind} from a bundle: found ${JSON.stringify(name)}`;
    report(message, document.locate(['kind']), { hint: 'let the operator create it' });
  }
}

const QUALIFIED =
  /^(?:([a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*)\/)?([A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

export function checkMetadata({ objects }: Inspected, report: Report): void {
  for (const object of objects) {
    if (
      /^(?:ClusterServiceVersion|CustomResourceDefinition)$/.test(object.kind) ||
      !SUPPORTED.has(object.kind)
    )
      continue;
    const metadata = isObject(object.value['metadata']) ? object.value['metadata'] : {};
    const say = (field: string, message: string): void => {
      report(
        `${object.kind} ${JSON.stringify(object.name)}: metadata.${field} ${message}`,
        object.document.locate(['metadata', field]),
      );
    };
    if (metadata['namespace'] !== undefined && metadata['namespace'] !== '') {
      say('namespace', 'must not be set: OLM puts the object into the namespace of the operator');
    }
    if (object.name === '' && !metadata['generateName']) say('name', 'is missing');
    if (typeof metadata['generation'] === 'number' && metadata['generation'] < 0)
      say('generation', 'must not be negative');
    for (const field of ['labels', 'annotations'] as const) {
      for (const [key, value] of Object.entries(isObject(metadata[field]) ? metadata[field] : {})) {
        const name = field === 'annotations' ? key.toLowerCase() : key;
        if (!QUALIFIED.test(name))
          say(field, `has the key ${JSON.stringify(key)}, which is no qualified name`);
        else if (field === 'labels' && !LABEL_VALUE.test(String(value)))
          say(field, `has the value ${JSON.stringify(value)}, which is no label value`);
      }
    }
    for (const finalizer of Array.isArray(metadata['finalizers']) ? metadata['finalizers'] : []) {
      if (!QUALIFIED.test(String(finalizer)))
        say('finalizers', `has ${JSON.stringify(finalizer)}, which is no qualified name`);
    }
  }
}
