import { PipelineError } from '../../error.ts';
import { type Command, usageError } from '../command.ts';
import { formatOf, printErrors, printOrWriteCatalog, RENDER_OPTIONS } from '../rendering.ts';

export const command: Command = {
  words: 'bundle catalog',
  operands: 'CATALOG',
  options: {
    repo: { value: 'DIR', description: 'path of the repository (default: current directory)' },
    commit: { value: 'COMMIT', description: 'commit to read the catalog from (default: HEAD)' },
    package: { value: 'NAME', description: 'only this package' },
    output: RENDER_OPTIONS['output'] ?? { description: '' },
    to: RENDER_OPTIONS['to'] ?? { description: '' },
  },
  details: [
    'The policy lists the catalogs that Portolan builds from bundle directories (bundleCatalogs). Each package contains the',
    'bundles in operators/PACKAGE/VERSION whose com.redhat.openshift.versions includes the catalog, with the upgrade edges',
    'of the updateGraph in its ci.yaml. A package whose bundles do not form a valid upgrade graph is omitted and reported',
    'as an error; check and publish reject it.',
  ].join('\n'),
  examples: [
    'portolan bundle catalog v4.20 --repo ../community-operators --to catalog',
    'portolan bundle catalog v4.20 --package etcd -o yaml',
  ],
  run: async (invocation, terminal) => {
    const { operands, text } = invocation;
    const [name] = operands;
    if (name === undefined) throw usageError(command, 'missing argument: CATALOG');
    const { readCommit } = await import('../commit-catalogs.ts');
    const only = text('package');
    let isWrong = false;
    const code = await printOrWriteCatalog(
      async () => {
        const [catalog] = await readCommit(
          { repository: text('repo') ?? '.', commit: text('commit') ?? 'HEAD' },
          { names: new Set([name]), ...(only === undefined ? {} : { packages: new Set([only]) }) },
          terminal,
        );
        if (!catalog)
          throw new PipelineError('not-found', `no catalog ${JSON.stringify(name)} in the commit`);
        isWrong = printErrors(catalog.unread, terminal);
        return catalog.catalog.blobs;
      },
      formatOf(invocation),
      { invocation, terminal },
    );
    return isWrong ? 1 : code;
  },
};
