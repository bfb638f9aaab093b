import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ManifestFile } from '../../../catalog/bundle/manifest.ts';
import { type Crd, readCrd } from '../../../catalog/crd/crd.ts';
import { type LegacyRelease, legacyChanges } from '../../../catalog/crd/legacy.ts';
import { safeChange, unsafeChanges } from '../../../catalog/crd/safety.ts';
import { directorySource, fileError } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { amountText, linesText } from '../../text.ts';
import type { Command } from '../command.ts';
import { manifestOf, namedManifest } from './manifest-of.ts';

export const command: Command = {
  words: 'crd-diff',
  operands: 'OLD NEW',
  details:
    'OLD and NEW are files or directories, for example the manifests of two bundles. Portolan compares CRDs by name, as\n' +
    'OLM v1 does before an upgrade.',
  options: {
    olm: {
      value: 'v1|v1.3|v0.17',
      description:
        'OLM release whose check to use (default: v1, OpenShift 4.20 and later; v1.3: 4.19; v0.17: 4.17 and 4.18)',
    },
    format: { value: 'text|json', description: 'output format (default: text)' },
  },
  examples: ['portolan crd-diff etcd/1.0.0/manifests etcd/1.1.0/manifests'],
  run: async ({ operands: [older = '', newer = ''], text, word }, terminal) => {
    const release = word('olm', ['v1', 'v1.3', 'v0.17']) ?? 'v1';
    const before = await crdsAt(resolve(terminal.directory, older), older);
    const after = await crdsAt(resolve(terminal.directory, newer), newer);
    const pairs = after.flatMap((crd): [Crd, Crd][] => {
      const old = before.find(({ name }) => name === crd.name);
      return old ? [[old, crd]] : [];
    });
    if (pairs.length === 0)
      throw new PipelineError(
        'usage',
        `nothing to compare: no CRD of ${newer} has the name of one in ${older}`,
      );
    const changes = pairs.flatMap((pair) => changesOf(pair, release));
    if (text('format') === 'json') {
      const verdict = changes.length > 0 ? 'fail' : 'pass';
      await terminal.out(`${JSON.stringify({ verdict, compared: pairs.length, changes }, null, 2)}\n`);
    } else {
      for (const { definition, text: line, hint } of changes) {
        await terminal.out(linesText([`${definition}: ${line}${hint === undefined ? '' : ` (${hint})`}`]));
      }
      const seen = `${amountText(pairs.length, 'CRD')} compared`;
      terminal.err(
        `${changes.length > 0 ? 'FAIL' : 'PASS'}: ${amountText(changes.length, 'unsafe change')}, ${seen}\n`,
      );
    }
    return changes.length > 0 ? 1 : 0;
  },
};

/** An unsafe change; as JSON a public interface. */
interface PrintedChange {
  /** Name of the CRD. */
  readonly definition: string;
  /** What is unsafe, in a sentence. */
  readonly text: string;
  /** How to make the change safe; absent where nothing is known. */
  readonly hint?: string;
}

/** The unsafe changes between two versions of a CRD, as this release of OLM v1 reports them. */
function changesOf([before, after]: [Crd, Crd], release: 'v1' | LegacyRelease): PrintedChange[] {
  const name = after.name;
  if (release === 'v1') {
    return unsafeChanges(before, after).map((change) => ({
      definition: name,
      text: change.text,
      hint: safeChange(change),
    }));
  }
  return legacyChanges(before, after, release).map(({ validator, message, hint }) => ({
    definition: name,
    text: `${validator}: ${message}`,
    ...(hint !== undefined && { hint }),
  }));
}

/**
 * The CRDs in a file or directory.
 *
 * @throws PipelineError `not-found` when nothing is there, `usage` when no definition is in it, or a manifest cannot be
 *   read, which may be one; `too-large`
 */
async function crdsAt(path: string, shown: string): Promise<Crd[]> {
  const files = await filesAt(path);
  const manifests = files.filter((file) => files.length === 1 || /\.(?:ya?ml|json)$/.test(file.path));
  for (const document of manifests.flatMap(({ documents }) => documents)) {
    if (document.kind === 'value') continue;
    const { file, line } = document.location;
    const where = files.length === 1 ? shown : `${shown}/${file}`;
    throw new PipelineError('usage', `${where}:${line}: ${document.message}`);
  }
  const crds = files.flatMap(({ documents }) =>
    documents.flatMap((document) => (document.kind === 'value' ? (readCrd(document.value) ?? []) : [])),
  );
  if (crds.length > 0) return crds;
  throw new PipelineError('usage', `no CustomResourceDefinition (apiextensions.k8s.io/v1) in ${shown}`);
}

/**
 * The manifests in a file, or in all files of a folder that can be read: a link out of the clone cannot.
 *
 * @throws PipelineError `too-large`
 */
async function filesAt(path: string): Promise<ManifestFile[]> {
  if (isFile(path)) return [namedManifest(path)];
  const found: ManifestFile[] = [];
  for (const file of await directorySource(path).files()) {
    const read = await manifestOf(file, path);
    if (read) found.push(read);
  }
  return found;
}

/** Whether a file is at a path. @throws PipelineError `not-found` or `io` */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    throw fileError(error, path);
  }
}
