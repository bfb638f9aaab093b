/** Sets a label with the result on the pull request. Portolan changes no other labels than those listed here. */
import { type CheckReport, enforcedState } from '../check/report.ts';
import { PipelineError } from '../error.ts';
import type { RepositoryName } from '../forge/forge.ts';
import { allPages, answerIfAny, dataOf, type GitHub } from './client.ts';

interface Label {
  readonly name: string;
  /** Hexadecimal, as GitHub takes it. */
  readonly color: string;
  readonly description: string;
}

const LABELS = {
  passed: { name: 'portolan/passed', color: '0e8a16', description: 'All checks of Portolan passed' },
  approval: {
    name: 'portolan/needs-approval',
    color: 'fbca04',
    description: 'The checks of Portolan passed; an approval is missing',
  },
  pending: {
    name: 'portolan/pending',
    color: 'c5def5',
    description: 'Portolan waits, or could not complete the check',
  },
  failed: { name: 'portolan/failed', color: 'd93f0b', description: 'Portolan found errors' },
} as const satisfies Readonly<Record<string, Label>>;

const OWN: ReadonlySet<string> = new Set(Object.values(LABELS).map(({ name }) => name));

/** The label for a report. If the policy enforces nothing, the one that it would have. */
export function labelOf(report: CheckReport): Label {
  const { verdict, authority } = report;
  switch (enforcedState(report)) {
    case 'success':
      return LABELS.passed;
    case 'failure':
      return LABELS.failed;
    case 'pending':
      return verdict === 'pass' && authority.decision === 'needs' ? LABELS.approval : LABELS.pending;
  }
}

/**
 * Gives a pull request the label of its report, and takes away the label of an earlier one. Nothing is written where the
 * label is there already. A label that the repository does not have is created.
 *
 * @throws PipelineError as the client
 */
export async function followLabels(
  { github, repository }: { readonly github: GitHub; readonly repository: RepositoryName },
  { number, report }: { readonly number: number; readonly report: CheckReport },
): Promise<void> {
  const issue = { ...repository, issue_number: number };
  const wanted = labelOf(report);
  const labels = await allPages(
    github.paginate(github.rest.issues.listLabelsOnIssue, { ...issue, per_page: 100 }),
  );
  const present = labels.map(({ name }) => name).filter((name) => OWN.has(name));
  if (!present.includes(wanted.name)) {
    await createLabel(github, repository, wanted);
    await dataOf(github.rest.issues.addLabels({ ...issue, labels: [wanted.name] }));
  }
  for (const name of present) {
    if (name !== wanted.name) await answerIfAny(github.rest.issues.removeLabel({ ...issue, name }));
  }
}

/** Creates a label, unless the repository has it. */
async function createLabel(github: GitHub, repository: RepositoryName, label: Label): Promise<void> {
  if (await answerIfAny(github.rest.issues.getLabel({ ...repository, name: label.name }))) return;
  try {
    await dataOf(github.rest.issues.createLabel({ ...repository, ...label, request: { retries: 0 } }));
  } catch (error) {
    // Another run created it, or this job may not: then GitHub creates it as it is added, without a colour.
    const isSkipped = error instanceof PipelineError && (error.code === 'usage' || error.code === 'denied');
    if (!isSkipped) throw error;
  }
}
