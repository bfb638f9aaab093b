/** The workflows as a repository needs them: its branch, the paths of its catalogs, its action, its trigger. */
import type { WrittenPattern } from '../policy-file.ts';

interface WorkflowChoices {
  /** `OWNER/REPOSITORY@COMMIT` in place of the action that the workflows name. */
  readonly action: string | undefined;
  /** The branch whose pushes are published. */
  readonly branch: string;
  /** Patterns of the catalogs' files. */
  readonly patterns: readonly WrittenPattern[];
  readonly hasOperators: boolean;
  /** What starts the check of a pull request. */
  readonly trigger: Trigger;
}

export const TRIGGERS = ['pull_request_target', 'workflow_run'] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** The text of a workflow, adapted to a repository: its Action, branch, paths and trigger. */
export function adaptWorkflow(name: string, text: string, choices: WorkflowChoices): string {
  const { action, branch, trigger } = choices;
  // The replacements are functions: in a text, `$` would stand for parts of the match.
  const named = action === undefined ? text : fromAction(text, action);
  const placed = named
    .replace('branches: [main]', () => `branches: [${quoted(escapedFilter(branch))}]`)
    .replace(
      "paths: ['catalogs/**', 'operators/**']",
      () => `paths: [${pathFilters(choices).map(quoted).join(', ')}]`,
    );
  return trigger === 'workflow_run' ? withReviewTrigger(name, placed) : placed;
}

/** Portolan from another repository or commit, where it is an action and where it is cloned. */
function fromAction(text: string, action: string): string {
  const clone = `https://github.com/${action.replace('@', ' ')}`;
  return text
    .replaceAll(/uses: portolan\/portolan@[0-9a-f]{40} # \S+/g, () => `uses: ${action}`)
    .replaceAll(/https:\/\/github\.com\/portolan\/portolan [0-9a-f]{40}/g, () => clone);
}

/** The trigger of pull requests in `portolan.yml`, two lines. */
const TARGET = / {2}pull_request_target:\n( {4}types: \[[^\]]*\]\n)/;
/** The same actions for the trigger `pull_request`. */
const TYPES =
  '    types: [opened, synchronize, reopened, closed, edited, ready_for_review, converted_to_draft, labeled, unlabeled]\n';

/**
 * Moves the trigger of pull requests from the gate to `portolan-review.yml`, which has no permissions and does nothing. Its
 * end starts the gate, on the default branch.
 */
function withReviewTrigger(name: string, text: string): string {
  if (name === 'portolan.yml') return text.replace(TARGET, '');
  if (name === 'portolan-review.yml') return text.replace('on:\n', `on:\n  pull_request:\n${TYPES}`);
  return text;
}

/**
 * A name as a filter of GitHub that matches it alone. A star stays what it is in patterns.
 *
 * @see https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#filter-pattern-cheat-sheet
 */
function escapedFilter(name: string): string {
  return name.replaceAll(/[+?[\]\\]|^!/g, '\\$&');
}

/** The patterns as globs of GitHub, which know no braces. Without any, the paths of the default layout. */
function pathFilters({ patterns, hasOperators }: WorkflowChoices): string[] {
  const filters = patterns.map((one) =>
    escapedFilter(typeof one === 'string' ? one : one.path)
      .replaceAll(/\{(?:catalog|package|version)\}/g, '*')
      .replaceAll(/\{(?:catalog|package|version):([^}]*)\}/g, (_, glob: string) => glob)
      .replaceAll(/\{[^}]*\}/g, '*'),
  );
  const all = filters.length === 0 ? ['catalogs/**'] : filters;
  return [...new Set([...all, ...(hasOperators || filters.length === 0 ? ['operators/**'] : [])])];
}

/** A text as a scalar of YAML in single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
