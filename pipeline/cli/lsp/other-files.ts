/** Findings in files that are not of a catalog: policies, templates, ImageSetConfigurations, releases and bundles. */
import { inspectedBundle } from '../../../catalog/bundle/inspect.ts';
import { isInSuite } from '../../../catalog/bundle/suite.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { readImageSet } from '../../../catalog/mirror/image-set.ts';
import { TEMPLATE_KINDS, templateKind } from '../../../catalog/opm/template/kinds.ts';
import { TemplateError } from '../../../catalog/opm/template/template.ts';
import { INSPECTION_RULES } from '../../../catalog/rules/inspection.ts';
import { runInspection } from '../../../catalog/rules/rule.ts';
import { gzipLength } from '../../catalogs/bundle/check-bundle.ts';
import { RELEASE_FILE, refusalFinding, releaseConfigOf } from '../../catalogs/release/release-config.ts';
import { directoryRepository } from '../../catalogs/release/release-repository.ts';
import { directorySource } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { POLICY_PATH, readPolicy } from '../../policy/read-policy.ts';

/**
 * Whether a text may be of a file-based catalog: one of its documents has a schema of OLM's. So have the entries of a
 * template, but no catalog has a template's schema.
 */
export function isCatalogText(text: string): boolean {
  return OF_CATALOG.test(text) && !OF_TEMPLATE.test(text);
}

const OF_CATALOG = schemaPattern(['olm.package', 'olm.channel', 'olm.bundle', 'olm.deprecations']);
const OF_TEMPLATE = schemaPattern(TEMPLATE_KINDS.map(({ schema }) => schema));

/** A field `schema` with one of some values, in YAML or JSON. */
function schemaPattern(schemas: readonly string[]): RegExp {
  const values = schemas.map((schema) => schema.replaceAll('.', '\\.')).join('|');
  return new RegExp(`(?:^|[{,])[ \\t]*["']?schema["']?[ \\t]*:[ \\t]*["']?(?:${values})\\b`, 'm');
}

/**
 * What is wrong in a file, at places in that file.
 *
 * @param path absolute, with slashes
 */
export async function findingsOf(path: string, text: string): Promise<readonly Finding[]> {
  const bytes = new TextEncoder().encode(text);
  if (path.endsWith(`/${POLICY_PATH}`)) return readPolicy(bytes).findings;
  if (path.endsWith(`/${RELEASE_FILE}`)) return releaseFindings(path, text);
  if (/^kind:[ \t]*ImageSetConfiguration[ \t]*\r?$/m.test(text)) return readImageSet(text, path).findings;
  // A file of a bundle: FOLDER/manifests/NAME or FOLDER/metadata/NAME.
  const [, folder = '', inside = ''] = /^(.*)\/((?:manifests|metadata)\/[^/]+)$/.exec(path) ?? [];
  if (folder !== '') return bundleFindings(folder, { path: inside, bytes });
  return templateFindings({ file: path, bytes });
}

/** What is wrong in a template; nothing for a file that is not one. */
function templateFindings(template: { readonly file: string; readonly bytes: Uint8Array }): Finding[] {
  const findings: Finding[] = [];
  try {
    templateKind(template)?.written(template, findings);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    findings.push(error.finding);
  }
  return findings;
}

/** The findings in one file of a bundle; its other files are those on the disk. */
async function bundleFindings(
  folder: string,
  edited: { readonly path: string; readonly bytes: Uint8Array },
): Promise<Finding[]> {
  const onDisk = directorySource(folder);
  const source = {
    files: async () => [
      ...(await onDisk.files()).filter(({ path }) => path !== edited.path),
      { path: edited.path, read: () => edited.bytes },
    ],
  };
  const bundle = await inspectedBundle(source, { gzipLength });
  return runInspection(bundle, INSPECTION_RULES).filter(
    ({ rule, location }) => isInSuite(rule, 'default') && location.file === edited.path,
  );
}

/** Findings about a release-config.yaml with this text, which need not be saved. */
async function releaseFindings(path: string, text: string): Promise<Finding[]> {
  // ROOT/operators/PACKAGE/VERSION/release-config.yaml
  const [, root = '', folder = ''] = /^(.*?)\/?([^/]+\/[^/]+\/[^/]+)\/[^/]+$/.exec(path) ?? [];
  const repository = directoryRepository(root);
  const own = `${folder}/${RELEASE_FILE}`;
  try {
    await releaseConfigOf(
      { ...repository, text: async (name) => (name === own ? text : repository.text(name)) },
      folder,
    );
    return [];
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    // PACKAGE of operators/PACKAGE/VERSION.
    const [, name = ''] = /^[^/]+\/([^/]+)\//.exec(folder) ?? [];
    return [refusalFinding(error, { package: name, folder })];
  }
}
