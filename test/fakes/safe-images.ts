/** Images of a catalog in a registry: one safe, the newest one stranding who has lighthouse-operator 2.0.0. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { folder } from './folder.ts';
import { registry } from './registry.ts';
import { sampleFiles, sampleRepository } from './sample.ts';
import { portolan } from './terminal.ts';

const LIGHTHOUSE = 'catalogs/v4.20/lighthouse-operator/catalog.yaml';
const HARBOUR = 'catalogs/v4.20/harbour-operator/catalog.yaml';

interface Scene {
  readonly host: string;
  readonly image: string;
  /** Digests by the commit's name, the oldest first. */
  readonly digests: Readonly<Record<'base' | 'safe' | 'stranding', string>>;
}

export async function safeImages(): Promise<Scene> {
  const sample = sampleRepository();
  onTestFinished(() => sample.remove());
  const { host } = await registry();
  const image = `${host}/sea/catalog:v4.20`;
  const policy = (sampleFiles()['.github/portolan.yaml'] ?? '').split('publish:')[0] ?? '';
  const text = `${policy}publish: {catalogs: {'v*': {image: '${host}/sea/catalog:{catalog}'}}}\n`;
  const of = (commit: string, path: string): string => `${sample.git('show', `${commit}:${path}`)}\n`;
  const options = (parent: string) => ({ parents: [parent], branch: 'main' });
  const base = sample.commit({ '.github/portolan.yaml': text }, options(sample.base));
  const safe = sample.commit({ [HARBOUR]: of(sample.addition, HARBOUR) }, options(base));
  const stranding = sample.commit({ [LIGHTHOUSE]: of(sample.stranding, LIGHTHOUSE) }, options(safe));
  const publish = async (commit: string): Promise<string> => {
    const words = ['--commit', commit, '--catalog', 'v4.20', '--insecure', host, '--out', folder()];
    const ran = await portolan(sample.directory, 'publish', ...words, '--format', 'json');
    if (ran.exit !== 0) throw new Error(ran.err);
    return JSON.parse(ran.out).receipt.digest;
  };
  const digests = {
    base: await publish(base),
    safe: await publish(safe),
    stranding: await publish(stranding),
  };
  return { host, image, digests };
}

/** Writes a fleet. @returns its file */
export function fleetFile(...rows: readonly string[]): string {
  const file = join(folder(), 'fleet.csv');
  writeFileSync(file, `cluster,platform,olm,package,version,channel\n${rows.join('\n')}\n`);
  return file;
}
