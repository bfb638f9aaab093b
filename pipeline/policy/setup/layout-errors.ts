/** Errors of setup: no layout fits, several do, or the clone lacks files. Each has the lines of policy or the command that help. */
import { shellWord } from '../../../catalog/names.ts';
import { PipelineError } from '../../error.ts';
import { amountText, shortList } from '../../text.ts';
import type { WrittenPattern } from '../policy-file.ts';
import { POLICY_PATH } from '../read-policy.ts';
import { catalogNamer } from './catalog-names.ts';
import type { ProvenLayout } from './find-layout.ts';
import { isFileOfPeople } from './people.ts';

/** Most contradictions that an error names. */
const MOST_REASONS = 3;

/** No layout fits: nothing is written, and people say where catalogs are. */
export function unclearLayout({ contradictions, defects, looked, linked }: ProvenLayout): PipelineError {
  const reasons = contradictions.slice(0, MOST_REASONS).join('; ');
  const more =
    contradictions.length > MOST_REASONS ? `; and ${contradictions.length - MOST_REASONS} more` : '';
  const [link] = linked;
  const first = [
    ...(defects.length > 0 ? [`the commit has invalid catalog files (${defects[0]}), and `] : []),
    ...(link
      ? [
          `Portolan does not follow symbolic links (${amountText(linked.length, 'link')} to catalog files, such as ${link.path} -> ${link.target}), and `,
        ]
      : []),
  ].join('');
  // Each file's folder; a dot for the top of the repository.
  const folders = [...new Set(looked.catalogs.map(({ path }) => path.replace(/\/?[^/]*$/, '') || '.'))];
  const hint = `catalog files are in ${shortList(folders, 'folders')}; complete these lines of ${POLICY_PATH}, and run setup again:`;
  const details = policyLines(["'FOLDER/{catalog}/{package}/**'"]);
  return new PipelineError('not-found', `${first}no layout fits all catalog files: ${reasons}${more}`, {
    hint,
    details,
  });
}

/** Several catalogs are possible, and only people know which are published. */
export function undecidedLayout({ questions, defects, found, looked }: ProvenLayout): PipelineError {
  const first = defects.length > 0 ? `the commit has invalid catalog files (${defects[0]}), and ` : '';
  const more = questions.length > 1 ? `; and ${questions.length - 1} more such questions` : '';
  const nameOf = catalogNamer(found.patterns);
  const files = looked.catalogs.filter(({ path }) => nameOf(path) !== undefined);
  const shown = files.slice(0, MOST_FOLDERS).map(({ path, defines }) => `  ${path}: ${defines.join(', ')}`);
  const hint = `write ${POLICY_PATH} with the patterns of the catalogs that you publish, and run setup again; catalog files were found in:`;
  const details = [
    ...shown,
    ...(files.length > shown.length ? [`  and ${files.length - shown.length} more`] : []),
    `lines of ${POLICY_PATH}, if all of them are published:`,
    ...policyLines(found.patterns.map(patternText)),
  ];
  return new PipelineError('not-found', `${first}the layout is not clear: ${questions[0]}${more}`, {
    hint,
    details,
  });
}

/** The lines of a policy with only a layout. */
function policyLines(patterns: readonly string[]): string[] {
  return ['apiVersion: portolan/v1alpha1', 'kind: Portolan', `layout: {catalog: [${patterns.join(', ')}]}`];
}

/** A pattern as YAML, as the policy would have it. */
function patternText(one: WrittenPattern): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  return typeof one === 'string'
    ? quoted(one)
    : `{path: ${quoted(one.path)}${one.name === undefined ? '' : `, name: ${quoted(one.name)}`}}`;
}

/** The error for files that a partial clone lacks, with the command that brings them. */
export function notHere(paths: readonly string[]): PipelineError {
  const message =
    paths.length === 1
      ? `${paths[0]}, which may be a catalog, is not in this clone`
      : `${paths.length} files that may be catalogs are not in this clone, such as ${paths[0]}`;
  return new PipelineError('not-found', message, { hint: fetchFilesCommand(paths) });
}

/** Most folders that one command names. */
const MOST_FOLDERS = 8;

/** The command that brings files into a partial clone, and little else: the top folders of catalogs, and files of owners. */
export function fetchFilesCommand(paths: readonly string[]): string {
  const patterns = new Set(
    paths.map((path) =>
      // Files of people are few and may be anywhere, so their names do; of all else, the top folder.
      isFileOfPeople(path) ? (path.split('/').at(-1) ?? path) : path.replace(/^([^/]+)\/.*/, '$1/'),
    ),
  );
  const all = [...patterns].slice(0, MOST_FOLDERS).map((one) => (isFileOfPeople(one) ? one : `/${one}`));
  return `git sparse-checkout set --no-cone ${['/.github/', ...all].map(shellWord).join(' ')} && git checkout HEAD`;
}
