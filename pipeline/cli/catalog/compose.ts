import { resolve } from 'node:path';
import { opmFindings } from '../../../catalog/rules/opm.ts';
import { composeBlobs, readComposite } from '../../catalogs/render/composite.ts';
import { readContent } from '../../directory.ts';
import type { Command } from '../command.ts';
import {
  formatOf,
  LIFECYCLES_OPTION,
  lifecyclesInto,
  printErrors,
  printOrWriteCatalog,
  RENDER_OPTIONS,
  renderAll,
  renderingOf,
} from '../rendering.ts';
import { ACCEPT_OPTION, MADE_DETAILS, madeWithEffect } from '../show-effect.ts';

export const command: Command = {
  words: 'compose',
  operands: 'FILE',
  options: {
    ...RENDER_OPTIONS,
    ...LIFECYCLES_OPTION,
    'from-index': {
      value: 'REFERENCE',
      description: 'index to start from; packages with the same names are replaced, all others are kept',
    },
    ...ACCEPT_OPTION,
  },
  details: [
    'FILE is a composite in YAML or JSON:',
    '',
    '  name: example-catalog',
    '  repo: quay.io/example/catalog',
    '  tag: v4.20',
    '  references:',
    '  - name: foo',
    '    image: quay.io/example/foo-catalog:v1',
    '',
    'Each image (or directory) is an index that contains the package. The result must pass the validation of opm.',
    '',
    MADE_DETAILS,
  ].join('\n'),
  examples: ['portolan compose catalog.yaml --from-index quay.io/example/catalog:v4.19 --to catalog'],
  run: async (invocation, terminal) => {
    const [file = ''] = invocation.operands;
    const format = formatOf(invocation);
    const { composite, findings } = readComposite(file, readContent(resolve(terminal.directory, file)));
    if (printErrors(findings, terminal) || !composite) return 1;
    const rendering = renderingOf(invocation, terminal);
    const index = invocation.text('from-index');
    const read = async () => {
      const base =
        index === undefined
          ? undefined
          : await renderAll([index], { ...rendering, only: 'catalogs' }, terminal);
      if (index !== undefined && !base) return undefined;
      const { blobs, findings: broken } = await composeBlobs(composite, rendering, base ? [base] : []);
      if (printErrors(broken, terminal)) return undefined;
      if (printErrors(opmFindings(blobs), terminal)) return undefined;
      const after = await lifecyclesInto(blobs, invocation, terminal);
      return after && madeWithEffect({ name: composite.name, before: base, after }, { invocation, terminal });
    };
    return printOrWriteCatalog(read, format, { invocation, terminal });
  },
};
