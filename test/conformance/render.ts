// Bundles rendered: bytes where opm rendered them, and a refusal where it refused.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readBundle } from '../../catalog/bundle/registry-bundle.ts';
import { type ImageTemplate, parseImageTemplate, renderBundle } from '../../catalog/bundle/render.ts';
import { renderBlob } from '../../catalog/fbc/render.ts';
import { directorySource } from '../../pipeline/directory.ts';
import { isolated } from './isolated.ts';
import type { CaseResult } from './main.ts';

export async function* cases(golden: string): AsyncIterable<CaseResult> {
  const root = join(golden, 'render');
  for (const name of readdirSync(root).sort()) {
    if (name.startsWith('_')) continue;
    yield await isolated(name, () => compare(name, join(root, name)));
  }
}

async function compare(name: string, folder: string): Promise<CaseResult> {
  const { args } = JSON.parse(readFileSync(join(folder, 'cmd.json'), 'utf8')) as { args: string[] };
  const { text, problem } = await rendered(args, join(folder, 'input'));
  const format = args.includes('yaml') ? 'yaml' : 'json';
  const expected = join(folder, `expect.${format}`);
  if (!existsSync(expected)) {
    if (text === undefined) return { name, outcome: 'agree' };
    return { name, outcome: 'differ', detail: 'rendered what opm refuses' };
  }
  if (text === readFileSync(expected, 'utf8')) return { name, outcome: 'agree' };
  return { name, outcome: 'differ', detail: problem ?? 'other bytes' };
}

async function rendered(
  args: readonly string[],
  input: string,
): Promise<{ text: string | undefined; problem: string | undefined }> {
  const optionOf = (option: string): string | undefined => args[args.indexOf(option) + 1 || args.length];
  const template = optionOf('--alpha-image-ref-template');
  const imageTemplate: { imageTemplate?: ImageTemplate } =
    template === undefined ? {} : { imageTemplate: parseImageTemplate(template) };
  const level = optionOf('--migrate-level') ?? (args.includes('--migrate') ? LAST_LEVEL : 'none');
  const { bundle, findings } = await readBundle(directorySource(input));
  if (!bundle) return { text: undefined, problem: findings[0]?.message };
  const migrateLevel = level === LAST_LEVEL ? LAST_LEVEL : 'none';
  const { blob, findings: refusals } = renderBundle(bundle, { ...imageTemplate, migrateLevel });
  if (!blob) return { text: undefined, problem: refusals[0]?.message };
  const text = blob.package === '' ? '' : renderBlob(blob, args.includes('yaml') ? 'yaml' : 'json');
  return { text, problem: undefined };
}

const LAST_LEVEL = 'bundle-object-to-csv-metadata';
