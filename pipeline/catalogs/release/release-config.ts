/** What `release-config.yaml` of a bundle asks for, with what `ci.yaml` of its package makes of it. */

import type { Finding } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { expandBasic } from '../../../catalog/opm/template/basic.ts';
import { type Release, releasedBasic, releasedSemver } from '../../../catalog/opm/template/release.ts';
import { expandSemver } from '../../../catalog/opm/template/semver.ts';
import type { Expand } from '../../../catalog/opm/template/template.ts';
import { PipelineError } from '../../error.ts';
import { readSettings } from '../../settings.ts';
import type { ReleaseRepository } from './release-repository.ts';

/** How one kind of template takes a bundle, and becomes a catalog. */
interface Kind {
  readonly release: (text: string | undefined, release: Release) => string;
  readonly expand: Expand;
}

/** By the `type` of a mapping in `ci.yaml`. */
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['olm.template.basic', { release: releasedBasic, expand: expandBasic }],
  ['olm.semver', { release: releasedSemver, expand: expandSemver }],
]);

/** One template of `release-config.yaml`, with what `ci.yaml` makes of it. */
export interface ReleaseConfig {
  readonly template: string;
  readonly catalogs: readonly string[];
  readonly kind: Kind;
  readonly release: Pick<Release, 'channels' | 'replaces' | 'skips' | 'skipRange' | 'defaultChannel'>;
}

/** Catalogs of all templates together: each is rendered anew. OpenShift has some 20 versions. */
const MOST_CATALOGS = 500;

/** Names of templates and catalogs become parts of paths, which must not lead elsewhere. */
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** The name of the file in a bundle's folder. */
export const RELEASE_FILE = 'release-config.yaml';

/**
 * What a bundle's release-config.yaml asks for.
 *
 * @param folder of the bundle: `operators/PACKAGE/VERSION`
 * @throws PipelineError `not-found`, `usage` for settings that cannot be followed, with what to write
 */
export async function releaseConfigOf(place: ReleaseRepository, folder: string): Promise<ReleaseConfig[]> {
  const path = `${folder}/${RELEASE_FILE}`;
  const listed = listIn(await settingsAt(place, path), 'catalog_templates');
  if (listed.length === 0) throw new PipelineError('usage', `${path} lists no catalog_templates`);
  const ciPath = `${folder.slice(0, folder.lastIndexOf('/'))}/ci.yaml`;
  const { fbc } = await settingsAt(place, ciPath);
  const mappings = listIn(isObject(fbc) ? fbc : {}, 'catalog_mapping');
  const asked = listed.map((one): ReleaseConfig => {
    const template = textAt(one, 'template_name', path) ?? '';
    const mapping = mappings.find((other) => textAt(other, 'template_name', ciPath) === template);
    if (!FILE_NAME.test(template) || !mapping)
      throw new PipelineError(
        'usage',
        `${path}: ${ciPath} has no fbc.catalog_mapping for the template ${JSON.stringify(template)}`,
      );
    const kind = KINDS.get(textAt(mapping, 'type', ciPath) ?? '');
    if (!kind) {
      const kinds = [...KINDS.keys()].join(' or ');
      throw new PipelineError(
        'usage',
        `${ciPath}: the type of ${template} is ${JSON.stringify(mapping['type'])}, expected ${kinds}`,
      );
    }
    const catalogs = textsAt(mapping, 'catalog_names', ciPath) ?? [];
    const odd = catalogs.find((catalog) => !FILE_NAME.test(catalog));
    if (odd !== undefined)
      throw new PipelineError('usage', `${ciPath}: ${JSON.stringify(odd)} is not a catalog`);
    return { template, catalogs, kind, release: releaseOf(one, path) };
  });
  const count = asked.reduce((sum, { catalogs }) => sum + catalogs.length, 0);
  if (count > MOST_CATALOGS)
    throw new PipelineError(
      'usage',
      `${path} and ${ciPath} ask for ${count} catalogs, the limit is ${MOST_CATALOGS}`,
    );
  return asked;
}

/** Where a template gets the bundle. @throws PipelineError `usage` without a channel */
function releaseOf(one: Fields, path: string): ReleaseConfig['release'] {
  const channels = textsAt(one, 'channels', path) ?? [];
  if (channels.length === 0) throw new PipelineError('usage', `${path}: a template has no channels`);
  return {
    channels,
    replaces: textAt(one, 'replaces', path),
    skips: textsAt(one, 'skips', path),
    skipRange: textAt(one, 'skipRange', path),
    defaultChannel: textAt(one, 'default_channel', path),
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields of a file of settings. @throws PipelineError `not-found`, `usage` */
async function settingsAt(place: ReleaseRepository, path: string): Promise<Fields> {
  const text = await place.text(path);
  if (text === undefined) throw new PipelineError('not-found', `${path} does not exist`);
  const { settings, findings } = readSettings(path, Buffer.from(text));
  const error = findings.find(({ severity }) => severity === 'error');
  if (error) throw new PipelineError('usage', `${path}:${error.location.line}: ${error.message}`);
  return isObject(settings?.value) ? settings.value : {};
}

/** The objects in a list under a key; none if there is no list. */
function listIn(fields: Fields, key: string): Fields[] {
  const list = fields[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** The text under a key; undefined if there is none. @throws PipelineError `usage` for another value */
function textAt(fields: Fields, key: string, path: string): string | undefined {
  const value = fields[key] ?? undefined;
  return value === undefined ? undefined : textOf(value, key, path);
}

/** The texts of a list under a key; undefined if there is none. @throws PipelineError `usage` for another value */
function textsAt(fields: Fields, key: string, path: string): string[] | undefined {
  const value = fields[key] ?? undefined;
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return value.map((one) => textOf(one, key, path));
  throw new PipelineError('usage', `${path}: ${key} is not a list`);
}

/** Refuses what is not a text: of the number `1.10`, YAML leaves 1.1. */
function textOf(value: unknown, key: string, path: string): string {
  if (typeof value === 'string') return value;
  throw new PipelineError('usage', `${path}: ${key} has ${JSON.stringify(value)}, expected a text`, {
    hint: "write it in quotes, such as '1.10'",
  });
}

// Why a bundle is not released, as a finding on its settings.

/** An error that keeps a bundle from its release, as a finding about the settings of that bundle. */
export function refusalFinding(
  { message, hint }: PipelineError,
  { package: name, folder }: { readonly package: string; readonly folder: string },
): Finding {
  const location = { file: `${folder}/${RELEASE_FILE}`, line: 1, column: 1 };
  const finding = { rule: 'release/refused', severity: 'error', message, location, package: name } as const;
  return hint === undefined ? finding : { ...finding, hint };
}
