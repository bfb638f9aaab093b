import { resolve } from 'node:path';
import { findingText, plain } from '../report/text.ts';
import { release } from '../stages/release.ts';
import type { Command } from './command.ts';
import { REGISTRY_OPTIONS } from './registry-options.ts';
import { renderingOf } from './rendering.ts';

export const command: Command = {
  words: 'release',
  summary:
    'Bring a bundle into the catalogs that its release-config.yaml names: templates first, then catalogs.',
  operands: 'PACKAGE VERSION',
  options: {
    repo: { value: 'DIR', description: 'the work tree (default: this directory)' },
    image: { value: 'REFERENCE', description: 'where the bundle is, or will be' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'The bundle is read from operators/PACKAGE/VERSION, its release-config.yaml and the ci.yaml beside it say which',
    'templates take it and which catalogs are made of them. Other bundles are taken from the catalogs that are there, so',
    'that no registry is asked for what was rendered before. Run it in the pull request that brings the bundle.',
  ].join('\n'),
  examples: ['portolan release etcd 1.2.0 --image quay.io/my-org/etcd-bundle@sha256:…'],
  run: async (invocation, terminal) => {
    const directory = resolve(terminal.directory, invocation.text('repo') ?? '.');
    const [name = '', version = ''] = invocation.operands;
    const { changed, findings } = await release(directory, {
      package: name,
      version,
      image: invocation.needed('image'),
      rendering: renderingOf(invocation, terminal),
    });
    for (const finding of findings) terminal.err(findingText(finding));
    if (findings.length > 0) terminal.err('FAIL: nothing was written\n');
    await terminal.out(changed.map((path) => `${plain(path)}\n`).join(''));
    return findings.length > 0 ? 1 : 0;
  },
};
