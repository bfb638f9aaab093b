import { PipelineError } from '../error.ts';
import { type Command, usageError } from './command.ts';
import { deliver, formatOf, RENDER_OPTIONS, sayErrors } from './rendering.ts';

export const command: Command = {
  words: 'bundle catalog',
  summary:
    'Print the catalog that a commit holds, or that the policy says is made from its bundle directories.',
  operands: 'CATALOG',
  options: {
    repo: { value: 'DIR', description: 'the repository (default: this directory)' },
    commit: { value: 'REVISION', description: 'whose catalog is printed (default: HEAD)' },
    package: { value: 'NAME', description: 'only this package' },
    output: RENDER_OPTIONS['output'] ?? { description: '' },
    to: RENDER_OPTIONS['to'] ?? { description: '' },
  },
  details: [
    'The policy names catalogs that nobody writes (bundleCatalogs): each package is made from operators/PACKAGE/VERSION,',
    'by the updateGraph of its ci.yaml, of the bundles whose com.redhat.openshift.versions holds the catalog. A package',
    'whose bundles make no graph is left out and said to be wrong; check and publish refuse it.',
  ].join('\n'),
  examples: [
    'portolan bundle catalog v4.20 --repo ../community-operators --to catalog',
    'portolan bundle catalog v4.20 --package etcd -o yaml',
  ],
  run: async (invocation, terminal) => {
    const { operands, text } = invocation;
    const [name] = operands;
    if (name === undefined) throw usageError(command, 'no catalog is named');
    const { readCommit } = await import('./commit-catalogs.ts');
    const only = text('package');
    let isWrong = false;
    const code = await deliver(
      async () => {
        const [catalog] = await readCommit(
          { repository: text('repo') ?? '.', commit: text('commit') ?? 'HEAD' },
          { names: new Set([name]), ...(only === undefined ? {} : { packages: new Set([only]) }) },
          terminal,
        );
        if (!catalog)
          throw new PipelineError('not-found', `the commit holds no catalog ${JSON.stringify(name)}`);
        isWrong = sayErrors(catalog.unread, terminal);
        return catalog.catalog.blobs;
      },
      formatOf(invocation),
      { invocation, terminal },
    );
    return isWrong ? 1 : code;
  },
};
