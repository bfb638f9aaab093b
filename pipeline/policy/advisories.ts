/** The advisories of a repository: `advisories/ID.yaml`, read strictly; every defect has its line. */
import { compareFindings, type Finding } from '../../catalog/finding.ts';
import { compareText } from '../../catalog/go/text.ts';
import { type Advisory, isVersion, isVersions } from '../../catalog/olm/advisory/advisory.ts';
import type { ObjectReader } from '../git/objects.ts';
import { whyUnreadable } from '../git/source.ts';
import { entryAt, isTree, joinPath, type ListedFile, listFiles } from '../git/tree.ts';
import type { Settings } from '../settings.ts';
import { matchesGlob } from '../text.ts';
import { type AdvisoryFile, validator } from './advisory-shape.ts';
import { readPolicyDocument } from './document.ts';
import { ADVISORIES } from './layout.ts';
import { schemaFindings } from './validate-policy.ts';

/** An advisory as the repository has it. */
export interface StoredAdvisory extends Advisory {
  /** Names of catalogs, in which `*` matches anything. */
  readonly catalogs: readonly string[];
  readonly path: string;
}

interface AdvisoryRead {
  /** Undefined beside a finding. */
  readonly advisory: StoredAdvisory | undefined;
  readonly findings: readonly Finding[];
}

/** Whether a text can be the id of an advisory, which is its file's name without `.yaml`: at most 100 characters. */
export function isAdvisoryId(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(text) && !/\.ya?ml$/i.test(text);
}

/** Where an advisory lies. */
export function advisoryPath(id: string): string {
  return `${ADVISORIES}/${id}.yaml`;
}

/** Whether an advisory is about a catalog. */
export function concernsCatalog({ catalogs }: StoredAdvisory, catalog: string): boolean {
  return catalogs.some((pattern) => matchesGlob(pattern, catalog));
}

/**
 * Reads an advisory.
 *
 * @param path from the root of the repository
 */
export function readAdvisory(path: string, bytes: Uint8Array): AdvisoryRead {
  const id = path.slice(path.lastIndexOf('/') + 1).replace(/\.yaml$/, '');
  const { settings, findings } = readPolicyDocument(path, bytes, 'advisory');
  if (!settings || findings.length > 0) return { advisory: undefined, findings };
  const { value } = settings;
  const validate = validator();
  if (!validate(value)) {
    const defects = schemaFindings(validate.errors ?? [], value, settings, 'advisory');
    return { advisory: undefined, findings: [...defects].sort(compareFindings) };
  }
  const wrong = valueFindings(value, settings);
  if (wrong.length > 0) return { advisory: undefined, findings: wrong };
  const { package: name, versions, reason, action, message, to } = value;
  const { catalogs = ['*'], allowDowngrade = false, withoutUpgradePath = [] } = value;
  return {
    advisory: {
      id,
      path,
      package: name,
      versions,
      reason,
      action,
      message,
      ...(to ? { to } : {}),
      catalogs,
      allowDowngrade,
      withoutUpgradePath,
    },
    findings: [],
  };
}

/** Findings about values that the schema allows, and that make no sense: versions, and fields that need each other. */
function valueFindings({ versions, reason, action, to }: AdvisoryFile, settings: Settings): Finding[] {
  const wrong = (path: readonly (string | number)[], message: string, hint: string): Finding => {
    const location = settings.locate(path);
    return { rule: 'advisory/value', severity: 'error', message, location, hint };
  };
  const findings = versions.flatMap((text, i) =>
    isVersions(text)
      ? []
      : wrong(
          ['versions', i],
          `versions[${i}]: ${JSON.stringify(text)} is not a version or a range`,
          "versions: ['1.2.3', '>=1.3.0 <1.3.4']",
        ),
  );
  if (reason.kind === 'cve' && reason.id === undefined)
    findings.push(wrong(['reason'], 'reason: id is missing', 'reason: {kind: cve, id: CVE-2026-12345}'));
  if (action === 'redirect' && !to)
    findings.push(wrong(['action'], 'redirect needs a version or a channel', "to: {version: '1.2.4'}"));
  if (action !== 'redirect' && to)
    findings.push(wrong(['to'], `to has no effect with ${action}`, 'action: redirect'));
  if (to?.version !== undefined && !isVersion(to.version))
    findings.push(
      wrong(
        ['to', 'version'],
        `to.version: ${JSON.stringify(to.version)} is not a version`,
        "to: {version: '1.2.4'}",
      ),
    );
  return findings;
}

interface AdvisoriesRead {
  readonly advisories: readonly StoredAdvisory[];
  readonly findings: readonly Finding[];
}

/** Largest advisory that is read, in bytes, and most advisories: anybody may propose some, and a check reads all of them. */
const ADVISORY_BYTES = 256 * 1024;
const MOST_ADVISORIES = 2000;

/**
 * Reads all advisories of a tree, in the order of their ids. Only `.yaml` files of the folder are advisories; a finding names
 * those with another ending of YAML, which would do nothing.
 *
 * @param tree id of a tree or commit
 * @throws PipelineError `not-found` when the clone lacks objects
 */
export async function advisoriesAt(objects: ObjectReader, tree: string): Promise<AdvisoriesRead> {
  const folder = await entryAt(objects, tree, ADVISORIES);
  if (!folder || !isTree(folder.mode)) return { advisories: [], findings: [] };
  const listed = (await listFiles(objects, folder.id)).filter(({ path }) => /^[^/]+\.ya?ml$/i.test(path));
  const isAdvisory = ({ path }: ListedFile): boolean => path.endsWith('.yaml');
  const files = listed.filter(isAdvisory);
  files.sort((a, b) => compareText(a.path, b.path));
  const advisories: StoredAdvisory[] = [];
  const findings: Finding[] = [];
  const refuse = (path: string, message: string): void => {
    const location = { file: path === '' ? ADVISORIES : joinPath(ADVISORIES, path), line: 1, column: 1 };
    findings.push({ rule: 'advisory/file', severity: 'error', message, location });
  };
  for (const file of listed)
    if (!isAdvisory(file)) refuse(file.path, `expected a file ${ADVISORIES}/ID.yaml`);
  if (files.length > MOST_ADVISORIES) refuse('', `there are more than ${MOST_ADVISORIES} advisories`);
  for (const { path, mode, id } of files.slice(0, MOST_ADVISORIES)) {
    const unreadable = whyUnreadable(mode);
    const info = unreadable === undefined ? await objects.info(id) : undefined;
    if (unreadable !== undefined) refuse(path, `the advisory is ${unreadable}, expected a regular file`);
    else if (info && info.size > ADVISORY_BYTES)
      refuse(path, `the advisory is larger than ${ADVISORY_BYTES} bytes`);
    else if (!isAdvisoryId(path.slice(0, -'.yaml'.length)))
      refuse(path, 'the name of an advisory has letters, digits, dots, dashes and underscores only');
    else {
      const { bytes } = await objects.read(id, ADVISORY_BYTES);
      const read = readAdvisory(joinPath(ADVISORIES, path), bytes);
      if (read.advisory) advisories.push(read.advisory);
      for (const finding of read.findings) findings.push(finding);
    }
  }
  return { advisories, findings };
}
