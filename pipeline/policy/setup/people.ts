/** Who may approve, as files of the repository say it already. */
import { isObject } from '../../../catalog/go/shape.ts';
import { compareText } from '../../../catalog/go/text.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import { entryAt } from '../../git/tree.ts';
import { readStrictSettings } from '../../settings.ts';
import { parseIdentity } from '../identity.ts';
import { ownersReader } from '../owners/owners.ts';
import type { Policy } from '../policy.ts';
import { repositoryMatcher } from '../registries.ts';

/** What the root's `config.yaml` of operator-pipelines says. */
interface PipelineConfig {
  /** Logins under `maintainers`. */
  readonly maintainers: readonly string[];
  /** Patterns of `allowed_bundle_registries`. */
  readonly registries: readonly string[];
}

/** Largest file that is read, in bytes. */
const FILE_BYTES = 1024 * 1024;

export async function pipelineConfig(objects: ObjectReader, tree: string): Promise<PipelineConfig> {
  const value = await settingsAt(objects, tree, 'config.yaml');
  const textsOf = (key: string): string[] => {
    const list = value?.[key];
    return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : [];
  };
  return {
    maintainers: textsOf('maintainers').filter((login) => parseIdentity(login) !== undefined),
    registries: textsOf('allowed_bundle_registries')
      .map((prefix) => prefix.replace(/\/+$/, ''))
      .filter(isPattern),
  };
}

/** Whether a text is a valid registry pattern of a policy, and matches the repositories below it. */
function isPattern(text: string): boolean {
  const [registry = '', ...path] = text.split('/');
  if (!/^[a-z0-9.-]+(?::[0-9]+)?$/.test(registry) || path.some((name) => !/^[a-z0-9._-]+$/.test(name)))
    return false;
  return repositoryMatcher([text])({ registry, repository: [...path, 'x'].join('/') });
}

async function settingsAt(
  objects: ObjectReader,
  tree: string,
  path: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const entry = await entryAt(objects, tree, path);
  if (!entry || whyUnreadable(entry.mode) !== undefined) return undefined;
  // What is not in a partial clone is named by whoever asked for the files.
  if (((await objects.info(entry.id))?.size ?? FILE_BYTES + 1) > FILE_BYTES) return undefined;
  const { settings } = readStrictSettings(path, (await objects.read(entry.id, FILE_BYTES)).bytes);
  return isObject(settings?.value) ? settings.value : undefined;
}

export interface OwnersFound {
  readonly packages: number;
  /** How many of them have an owner. */
  readonly owned: number;
  /** Those of the others that have a `cert_project_id`, with it: only Red Hat's certification service knows its account. */
  readonly certified: ReadonlyMap<string, string>;
  /** Names of the packages without an owner. */
  readonly unowned: readonly string[];
}

/** @param places packages, each with a path in its folder */
export async function ownersFound(
  objects: ObjectReader,
  tree: string,
  { policy, places }: { readonly policy: Policy; readonly places: ReadonlyMap<string, string> },
): Promise<OwnersFound> {
  const reader = ownersReader(objects, tree, policy);
  const unowned: string[] = [];
  const certified = new Map<string, string>();
  for (const [name, path] of places) {
    const { identities } = await reader.of(name, [path]);
    if (identities.length > 0) continue;
    unowned.push(name);
    const project = (await settingsAt(objects, tree, `operators/${name}/ci.yaml`))?.['cert_project_id'];
    if (typeof project === 'string' || typeof project === 'number') certified.set(name, String(project));
  }
  return {
    packages: places.size,
    owned: places.size - unowned.length,
    certified,
    unowned: unowned.sort(compareText),
  };
}

/** The file that `owners.sources` names for packages whose certification project is all that is known. */
export const OWNERS_PATH = '.github/portolan-owners.yaml';

/** A line for each package to fill in. */
export function ownersFile(certified: OwnersFound['certified']): string {
  return [
    '# Owners of packages whose operators/PACKAGE/ci.yaml has a cert_project_id and no reviewers. The owner is the account',
    "# that opened the project, which only Red Hat's certification service knows. Remove the # of a line to name people.",
    ...[...certified]
      .sort(([a], [b]) => compareText(a, b))
      .map(
        ([name, project]) =>
          `# ${name}: [LOGIN] # cert_project_id ${project.replaceAll(/[^A-Za-z0-9-]/g, '?')}`,
      ),
    '',
  ].join('\n');
}
