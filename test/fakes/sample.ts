/** The sample repository with its pull requests, as a real git repository. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Files, makeRepository, type TestRepository } from './repository.ts';

const SAMPLE = 'test/catalogs/sample';

export interface SampleRepository extends TestRepository {
  /** Ids of commits. */
  readonly base: string;
  /** Adds harbour-operator 1.3.0, for its owner anna to ask for. */
  readonly addition: string;
  /** Adds lighthouse-operator 2.2.0 so that OLM v0 strands 2.0.0. */
  readonly stranding: string;
}

/** @param beside further files of the base */
export function sampleRepository(beside: Files = {}): SampleRepository {
  const repository = makeRepository();
  const base = repository.commit({ ...sampleFiles(), ...beside });
  const addition = repository.commit(
    added({
      package: 'harbour-operator',
      like: '1.2.0',
      version: '1.3.0',
      edges: ['replaces: harbour-operator.v1.2.0'],
    }),
    { parents: [base], branch: 'addition' },
  );
  const lighthouse = 'lighthouse-operator';
  const edges = [
    `replaces: ${lighthouse}.v2.0.1`,
    'skips:',
    `- ${lighthouse}.v2.0.1`,
    `- ${lighthouse}.v2.1.0`,
  ];
  const stranding = repository.commit(
    added({ package: lighthouse, like: '2.1.0', version: '2.2.0', edges }),
    {
      parents: [base],
      branch: 'stranding',
    },
  );
  return { ...repository, base, addition, stranding };
}

/** The sample's files by path. */
export function sampleFiles(): Record<string, string> {
  const paths = readdirSync(SAMPLE, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    paths.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(SAMPLE.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

/** A package's file with one more version: an entry in its last channel, and a bundle made after an older one. */
function added(change: {
  readonly package: string;
  readonly like: string;
  readonly version: string;
  readonly edges: readonly string[];
}): Files {
  const { package: name, like, version, edges } = change;
  const path = `catalogs/v4.20/${name}/catalog.yaml`;
  const documents = (sampleFiles()[path] ?? '').split(/^---\n/m);
  const channel = documents.findLastIndex((document) => document.startsWith('schema: olm.channel\n'));
  const bundle = documents.find((document) => document.includes(`\nname: ${name}.v${like}\n`)) ?? '';
  const entry = [`- name: ${name}.v${version}`, ...edges.map((edge) => `  ${edge}`), ''].join('\n');
  documents[channel] += entry;
  return { [path]: [...documents, withOwnImage(bundle.replaceAll(like, version), version)].join('---\n') };
}

/** Each version has an image of its own. */
function withOwnImage(bundle: string, version: string): string {
  const digest = createHash('sha256').update(version).digest('hex');
  return bundle.replaceAll(/(-bundle@sha256:)[0-9a-f]{64}/g, `$1${digest}`);
}

/** The sample with one package, which is published soon. */
export function harbourRepository(): SampleRepository {
  const without = (name: string) => [`catalogs/v4.20/${name}/catalog.yaml`, null] as const;
  return sampleRepository(Object.fromEntries(['ferry-operator', 'lighthouse-operator'].map(without)));
}
