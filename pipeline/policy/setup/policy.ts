/** A first policy for a repository: what differs from the defaults, and nothing else. */
import type { FoundLayout } from './layout.ts';

/** The pattern that holds without a word. */
const DEFAULT_PATTERN = 'catalogs/{catalog}/{package}/**';

/** For editors, which then check the file as it is typed. */
const SCHEMA_LINE = '# yaml-language-server: $schema=https://unpkg.com/portolan/docs/policy.schema.json';

/** The text of `.github/portolan.yaml`. */
export function firstPolicy({ patterns, catalogs }: FoundLayout, admins: readonly string[]): string {
  const isDefault = patterns.length === 0 || (patterns.length === 1 && patterns[0] === DEFAULT_PATTERN);
  const lines = [
    SCHEMA_LINE,
    '# What every key means, and what holds without it: https://github.com/portolan/portolan/blob/main/docs/policy.md',
    'apiVersion: portolan/v1alpha1',
    'kind: Portolan',
    ...(isDefault ? [] : ['layout:', '  catalog:', ...patterns.map((pattern) => `  - ${quoted(pattern)}`)]),
    'owners:',
    `  admins: [${admins.map(quoted).join(', ')}]`,
    ...(catalogs.length > 1 ? ['graph:', `  catalogOrder: [${catalogs.map(quoted).join(', ')}]`] : []),
    'registries: {allow: []} # quay.io/my-org: new images of it are looked up',
    'merge: {mode: off} # auto: what is allowed and green is merged',
    "# publish: {catalogs: {'*': {image: 'quay.io/my-org/catalog:{catalog}'}}}",
    '',
  ];
  return lines.join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
