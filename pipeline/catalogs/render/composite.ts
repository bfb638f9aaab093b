/**
 * Composite catalogs: a file that names packages and, for each, the index image (or directory)
 * that it comes from.
 */
import { type Blobs, blobsOfPackages, joinedBlobs } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { readSettings, type Settings } from '../../settings.ts';
import type { Rendering } from './load.ts';
import { renderReference } from './reference.ts';

export interface Composite {
  /** Name of the catalog; empty when the file gives none. */
  readonly name: string;
  /** Where its image is to be: repository and tag, each empty when the file gives none. */
  readonly repo: string;
  readonly tag: string;
  readonly references: readonly CompositeReference[];
  /** The whole file as JSON. */
  readonly value: Readonly<Record<string, unknown>>;
}

interface CompositeReference {
  /** The package. */
  readonly name: string;
  /** The index image or directory that holds it. */
  readonly image: string;
  readonly location: Finding['location'];
}

interface CompositeRead {
  /** Undefined when the file cannot be used. */
  readonly composite: Composite | undefined;
  readonly findings: readonly Finding[];
}

/** Reads `name`, `repo`, `tag` and `references` with `name` and `image` each. */
export function readComposite(file: string, bytes: Uint8Array): CompositeRead {
  const { settings, findings } = readSettings(file, bytes);
  if (!settings) return { composite: undefined, findings };
  const value = isObject(settings.value) ? settings.value : {};
  const references = referencesOf(settings, value['references']);
  const errors = [...findings, ...references.findings];
  if (errors.some(({ severity }) => severity === 'error')) return { composite: undefined, findings: errors };
  const text = (key: string): string => (typeof value[key] === 'string' ? value[key] : '');
  const composite = { name: text('name'), repo: text('repo'), tag: text('tag'), references: references.list };
  return { composite: { ...composite, value }, findings: errors };
}

/** The packages and images that a composite file lists, each package once. What is not valid becomes a finding. */
function referencesOf(
  settings: Settings,
  value: unknown,
): { list: CompositeReference[]; findings: Finding[] } {
  const findings: Finding[] = [];
  const addFinding = (message: string, path: readonly (string | number)[], hint: string): void => {
    findings.push({
      rule: 'composite/reference',
      severity: 'error',
      message,
      location: settings.locate(path),
      hint,
    });
  };
  const list: CompositeReference[] = [];
  const names = new Set<string>();
  const form = '- {name: PACKAGE, image: REFERENCE}';
  if (!Array.isArray(value) || value.length === 0)
    addFinding('the file lists no references', ['references'], form);
  for (const [i, item] of (Array.isArray(value) ? value : []).entries()) {
    const path = ['references', i];
    const { name, image } = isObject(item) ? item : {};
    if (typeof name !== 'string' || name === '' || typeof image !== 'string' || image === '') {
      addFinding('a reference has a name and an image', path, form);
    } else if (names.has(name)) {
      addFinding(`duplicate package ${JSON.stringify(name)}`, path, 'keep one of them');
    } else {
      names.add(name);
      list.push({ name, image, location: settings.locate([...path, 'image']) });
    }
  }
  return { list, findings };
}

/**
 * The catalog that a composite stands for: of each image the blobs of one package.
 *
 * @param base blobs of an index that the packages are put into, in the places of old ones
 * @throws PipelineError what rendering throws
 */
export async function composeBlobs(
  { references }: Composite,
  rendering: Rendering,
  base: readonly Blobs[] = [],
): Promise<{ readonly blobs: Blobs; readonly findings: readonly Finding[] }> {
  const names = new Set(references.map(({ name }) => name));
  const parts = base.map((blobs) => blobsOfPackages(blobs, (name) => !names.has(name)));
  const findings: Finding[] = [];
  for (const { name, image, location } of references) {
    const loaded = await renderReference(image, { ...rendering, only: 'catalogs' });
    for (const finding of loaded.findings) findings.push(finding);
    const blobs = blobsOfPackages(loaded.blobs, (pkg) => pkg === name);
    if (blobs.packages.length === 0) {
      const message = `${image} has no package ${JSON.stringify(name)}`;
      findings.push({ rule: 'composite/package', severity: 'error', message, location });
    }
    parts.push(blobs);
  }
  return { blobs: joinedBlobs(parts), findings };
}
