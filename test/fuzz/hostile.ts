/**
 * The smallest hostile inputs that are known, for each codec, language, schema and pattern that is read anywhere, with the
 * modules that read them. `bench/hostile-inputs.ts` measures them.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { loadCel } from '../../catalog/fbc/cel/cel.ts';
import { ignoreMatcher } from '../../catalog/fbc/ignore.ts';
import { decodeBase64 } from '../../catalog/go/base64.ts';
import { compileGoRegexp } from '../../catalog/go/regexp.ts';
import { parseJsonPath, textsAt } from '../../catalog/mirror/helm/json-path.ts';
import { boundsOf, readUpdateGraph, shortestPath } from '../../catalog/mirror/release/update-graph.ts';
import { openDatabase } from '../../pipeline/catalogs/database/open.ts';
import { MessageReader } from '../../pipeline/catalogs/serve/grpc-messages.ts';
import { completionsAt } from '../../pipeline/cli/lsp/answers.ts';
import { CatalogFolder } from '../../pipeline/cli/lsp/catalog-folder.ts';
import { isCatalogText } from '../../pipeline/cli/lsp/other-files.ts';
import { SegmentedText } from '../../pipeline/cli/lsp/segmented-text.ts';
import { PipelineError } from '../../pipeline/error.ts';
import { readChartFiles } from '../../pipeline/mirror/charts/chart-files.ts';
import { readKeyring } from '../../pipeline/mirror/releases/openpgp.ts';
import { decompressed } from '../../pipeline/oci/image/decompress.ts';
import { compileLayout } from '../../pipeline/policy/layout.ts';
import { parsePattern, readCodeOwners } from '../../pipeline/policy/owners/code-owners.ts';
import { isTemplateText } from '../../pipeline/policy/setup/catalog-files.ts';
import { unpackedReport } from '../../pipeline/report/packed-report.ts';
import { sharedIn } from '../../playground/share.ts';
import { tar } from '../fakes/image.ts';
import { database } from '../fakes/sqlite.ts';
import { TARGETS } from './targets.ts';

export interface HostileInput {
  readonly what: string;
  /** Modules that read such bytes. */
  readonly reads: readonly string[];
  readonly bytes: () => Uint8Array | Promise<Uint8Array>;
  /** The fuzz target of this name when left out. */
  readonly read?: (bytes: Buffer) => unknown;
}

const text = (value: string): Buffer => Buffer.from(value);
const times = (count: number, line: (i: number) => string): Buffer =>
  text(Array.from({ length: count }, (_, i) => line(i)).join(''));
const nested = (depth: number): Buffer => text('['.repeat(depth) + ']'.repeat(depth));
/** Reads what may be refused, by an error of its reader. */
async function orRefused(read: () => Promise<unknown>): Promise<void> {
  await read().catch((error: unknown) => {
    if (error instanceof TypeError || error instanceof RangeError) throw error;
  });
}

const layer = async (bytes: Uint8Array): Promise<void> => {
  try {
    for await (const _ of decompressed(pieces(bytes)));
  } catch (error) {
    // Beyond a limit, as it should be.
    if (!(error instanceof PipelineError)) throw error;
  }
};

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** A zstd frame with a window of 128 MiB, and blocks of one byte that stands for 128 KiB each. */
function zstdBomb(blocks: number): Buffer {
  const block = Buffer.alloc(4);
  block.writeUIntLE((131_072 << 3) | 2, 0, 3);
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3]);
  return Buffer.concat([head, ...Array.from({ length: blocks }, () => block), Buffer.from([1, 0, 0])]);
}

function pack(object: Uint8Array): Buffer {
  const head = Buffer.from([0x50, 0x41, 0x43, 0x4b, 0, 0, 0, 2, 0, 0, 0, 1, 0xb0, 0x80, 0x80, 0x20]);
  return Buffer.concat([head, deflateSync(object), Buffer.alloc(20)]);
}

const DEEP_CRD = `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {versions: [{name: v1, schema: {openAPIV3Schema: ${'{properties: {a: '.repeat(45)}{}${'}}'.repeat(45)}}}]}\n`;
const CHANNELS = (count: number): Buffer =>
  times(count, (i) => {
    const entries = Array.from({ length: count }, (_, k) => `{"name":"p.v1.${k}.0"}`);
    return `{"schema":"olm.channel","package":"p","name":"c${i}","entries":[${entries}]}\n`;
  });

/** By what reads them. */
export const HOSTILE: Readonly<Record<string, HostileInput>> = {
  gzip: {
    reads: ['pipeline/oci/image/decompress.ts', 'pipeline/oci/registry/archive/file.ts'],
    what: 'zeros',
    bytes: () => gzipSync(Buffer.alloc(300 * 2 ** 20)),
    read: layer,
  },
  zstd: {
    reads: ['pipeline/oci/image/zstd-frames.ts'],
    what: 'blocks of one byte, window of 128 MiB',
    bytes: () => zstdBomb(40_000),
    read: layer,
  },
  tar: {
    reads: ['pipeline/oci/registry/archive/tar.ts', 'pipeline/oci/image/tree.ts'],
    what: 'blocks of zeros and ones',
    bytes: () => Buffer.alloc(1 << 20, 1),
  },
  'git-packs': {
    reads: ['pipeline/git/http/pack.ts', 'pipeline/git/http/protocol.ts'],
    what: 'an object of zeros',
    bytes: () => pack(Buffer.alloc(64 << 20)),
  },
  'git-objects': {
    reads: ['pipeline/git/commit.ts'],
    what: 'one long line',
    bytes: () => Buffer.alloc(1 << 20, 0x31),
  },
  base64: {
    reads: ['catalog/go/base64.ts'],
    what: 'a value',
    bytes: () => Buffer.alloc(8 << 20, 0x41),
    read: (bytes) => decodeBase64(Buffer.from(bytes).toString()),
  },
  yaml: {
    reads: [
      'catalog/yaml/parser.ts',
      'catalog/yaml/fast.ts',
      'catalog/yaml/emit-scalar.ts',
      'playground/examine.ts',
    ],
    what: 'nesting',
    bytes: () => nested(100_000),
  },
  'yaml (aliases)': {
    reads: ['catalog/yaml/parser.ts'],
    what: 'aliases of aliases',
    bytes: () => times(30, (i) => `a${i}: &a${i} [${i === 0 ? 'x' : `${`*a${i - 1},`.repeat(9)}x`}]\n`),
    read: (bytes) => TARGETS['yaml']?.(bytes),
  },
  'yaml (anchors)': {
    reads: ['catalog/yaml/parser.ts'],
    what: 'anchors',
    bytes: () => times(40_000, (i) => `a${i}: &a${i} 1\n`),
    read: (bytes) => TARGETS['yaml']?.(bytes),
  },
  documents: {
    reads: ['catalog/fbc/documents.ts', 'catalog/fbc/split.ts', 'catalog/opm/reading-error.ts'],
    what: 'separators',
    bytes: () => times(150_000, () => '---\nx: 1\n'),
  },
  json: {
    reads: [
      'catalog/json.ts',
      'catalog/go/json.ts',
      'catalog/mirror/freshness/freshness.ts',
      'catalog/mirror/freshness/sync-record.ts',
      'catalog/mirror/release/image-references.ts',
    ],
    what: 'nesting',
    bytes: () => nested(500_000),
  },
  catalogs: {
    reads: ['catalog/fbc/openshift.ts', 'catalog/fbc/platform.ts'],
    what: '100 channels of 100 entries',
    bytes: () => CHANNELS(100),
  },
  templates: {
    reads: ['pipeline/catalogs/render/composite.ts'],
    what: 'nesting',
    bytes: () => nested(50_000),
  },
  bundles: {
    reads: [
      'catalog/bundle/manifest.ts',
      'catalog/bundle/render.ts',
      'pipeline/catalogs/bundle/manifest-lookups.ts',
    ],
    what: 'nesting',
    bytes: () => nested(50_000),
  },
  crds: { reads: ['catalog/crd/crd.ts'], what: 'a schema 45 levels deep', bytes: () => text(DEEP_CRD) },
  policy: {
    reads: [
      'pipeline/policy/read-policy.ts',
      'pipeline/policy/document.ts',
      'pipeline/settings.ts',
      'pipeline/file-pieces.ts',
      'pipeline/text.ts',
      'pipeline/check/rehearsal/past-layouts.ts',
      'pipeline/check/rehearsal/silencing.ts',
      'pipeline/policy/setup/policy.ts',
      'pipeline/policy/setup/unshipped.ts',
    ],
    what: 'stars in a pattern',
    bytes: () =>
      text(`apiVersion: portolan/v1alpha1\nkind: Portolan\nbranches: ['${'*a'.repeat(50_000)}']\n`),
  },
  CODEOWNERS: {
    reads: ['pipeline/policy/owners/code-owners.ts'],
    what: 'stars in a pattern, a path of 20 kB',
    bytes: () => text('**/*a'.repeat(4000)),
    read: (bytes) => parsePattern(Buffer.from(bytes).toString()).matches('a/'.repeat(10_000)),
  },
  'CODEOWNERS (blanks)': {
    reads: ['pipeline/policy/owners/code-owners.ts'],
    what: 'a line of tabs',
    bytes: () => text(`x${'\t'.repeat(1_000_000)}x\n`),
    read: (bytes) => readCodeOwners(Buffer.from(bytes).toString()),
  },
  'texts of templates': {
    reads: ['pipeline/policy/setup/catalog-files.ts', 'pipeline/cli/lsp/other-files.ts'],
    what: 'empty lines',
    bytes: () => text(`olm.x${'\n'.repeat(1_000_000)}`),
    read: (bytes) => [
      isTemplateText(Buffer.from(bytes).toString()),
      isCatalogText(Buffer.from(bytes).toString()),
    ],
  },
  edits: {
    reads: ['pipeline/cli/lsp/segmented-text.ts', 'pipeline/cli/lsp/answers.ts'],
    what: 'a list of 100,000 items with many blanks, and a question about the last one',
    bytes: () => text(`a:${' '.repeat(160_000)}x\n${'- \n'.repeat(100_000)}- b`),
    read: (bytes) => {
      const folder = new CatalogFolder('v4.20');
      folder.files.set('f', new SegmentedText(Buffer.from(bytes).toString()));
      completionsAt({ folder, file: 'f', at: { line: 100_001, character: 2 } });
    },
  },
  'bundle-objects': {
    reads: [
      'catalog/fbc/bundle-object.ts',
      'catalog/crd/crd.ts',
      'catalog/olm/manifests.ts',
      'catalog/references/csv.ts',
    ],
    what: 'nesting',
    bytes: () => nested(100_000),
  },
  'cluster-objects': {
    reads: [
      'pipeline/check/blame/must-gather.ts',
      'pipeline/cli/migration/cluster-view.ts',
      'pipeline/cli/migration/library-olm.ts',
    ],
    what: '2,000 Subscriptions of as many packages',
    bytes: () =>
      times(
        2000,
        (i) =>
          `---\n{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"p${i}","namespace":"ops"},"spec":{"name":"p${i}"},"status":{"installedCSV":"p${i}"}}\n`,
      ),
  },
  'operator-folders': {
    reads: ['catalog/bundle/operator-folder.ts', 'catalog/bundle/settings-schema.ts'],
    what: 'nesting',
    bytes: () => Buffer.concat([text('==== ci.yaml\n'), nested(100_000)]),
  },
  dockerfiles: {
    reads: ['catalog/fbc/dockerfile.ts', 'catalog/fbc/fragment.ts'],
    what: 'variables without an end, and 14 stages that each copy the one before twice',
    bytes: () => {
      const stages = Array.from(
        { length: 14 },
        (_, i) =>
          `FROM scratch AS s${i + 1}\nCOPY --from=s${i} /configs /configs/a\nCOPY --from=s${i} /configs /configs/b\n`,
      );
      const first = 'FROM scratch AS s0\nCOPY etcd /configs\n';
      return text(`${first}${stages.join('')}LABEL a=${'${a:-'.repeat(20_000)}\n`);
    },
  },
  CEL: {
    reads: ['catalog/fbc/cel/cel.ts', 'catalog/fbc/cel/cost.ts'],
    what: 'a list that doubles 27 times',
    bytes: () => text(`[1]${'.map(x, x + x)'.repeat(27)}.size() > 0`),
    read: async (bytes) => {
      try {
        return (await loadCel()).compile(Buffer.from(bytes).toString());
      } catch (error) {
        return error;
      }
    },
  },
  'Go regular expressions': {
    reads: ['catalog/go/regexp.ts'],
    what: 'repeats of repeats',
    bytes: () => text('((a{1,30}){1,30})*b'),
    read: (bytes) => {
      const steps = { left: 1e9 };
      return compileGoRegexp(Buffer.from(bytes).toString(), steps)?.test('a'.repeat(10_000), steps);
    },
  },
  versions: {
    reads: [
      'catalog/version/version.ts',
      'catalog/olm/resolve/release.ts',
      'catalog/bundle/openshift-range.ts',
    ],
    what: 'digits',
    bytes: () => Buffer.alloc(900_000, 0x31),
  },
  ranges: {
    reads: ['catalog/version/version.ts', 'catalog/version/constraint.ts'],
    what: 'alternatives',
    bytes: () => text('>=1.0.0 || '.repeat(50_000)),
  },
  references: {
    reads: [
      'catalog/reference.ts',
      'catalog/references/lock.ts',
      'catalog/mirror/oc.ts',
      'catalog/mirror/style.ts',
      'catalog/mirror/version-bound.ts',
      'catalog/mirror/select/select.ts',
      'pipeline/oci/registry/image-location.ts',
      'pipeline/oci/registry/name.ts',
      'pipeline/policy/identity.ts',
    ],
    what: 'one long name',
    bytes: () => Buffer.alloc(1 << 20, 0x61),
  },
  'image-manifests': {
    reads: ['pipeline/oci/registry/layout/entries.ts'],
    what: '100,000 layers',
    bytes: () =>
      text(
        `{"schemaVersion":2,"config":{},"layers":[${Array.from({ length: 100_000 }, () => '{"size":1}')}]}`,
      ),
  },
  'registry-replies': {
    reads: ['pipeline/oci/registry/auth.ts'],
    what: 'nesting',
    bytes: () => nested(200_000),
  },
  mermaid: {
    reads: ['pipeline/report/pictures/mermaid.ts'],
    what: '100 channels of 100 entries',
    bytes: () => CHANNELS(100),
  },
  'mirror-files': {
    reads: [
      'catalog/mirror/documents/delete-list.ts',
      'catalog/mirror/image-set.ts',
      'catalog/mirror/mapping.ts',
      'catalog/mirror/node/registries-conf.ts',
      'catalog/mirror/read.ts',
      'catalog/mirror/report.ts',
      'pipeline/mirror/archive/receipt.ts',
    ],
    what: 'nesting',
    bytes: () => nested(100_000),
  },
  advisories: { reads: ['pipeline/policy/advisories.ts'], what: 'nesting', bytes: () => nested(100_000) },
  fleets: {
    reads: [
      'pipeline/check/fleet/read-fleet.ts',
      'pipeline/check/cluster.ts',
      'pipeline/check/world/ledger.ts',
    ],
    what: '100,000 lines',
    bytes: () => times(100_000, (i) => `g${i},1,4.18,p,1.0.0,stable\n`),
  },
  kubeconfigs: {
    reads: ['pipeline/cli/inventory/kubeconfig.ts'],
    what: 'nesting',
    bytes: () => nested(100_000),
  },
  rings: { reads: ['pipeline/publish/rings/read.ts'], what: 'nesting', bytes: () => nested(500_000) },
  'version-lists': {
    reads: ['catalog/olm/suggest/version-list.ts'],
    what: 'digits',
    bytes: () => Buffer.alloc(900_000, 0x31),
  },
  messages: {
    reads: [
      'pipeline/publish/delivery/message.ts',
      'pipeline/publish/fence-records.ts',
      'pipeline/publish/receipt.ts',
    ],
    what: 'nesting',
    bytes: () => nested(500_000),
  },
  webhooks: { reads: ['pipeline/forge/webhook.ts'], what: 'nesting', bytes: () => nested(2_500_000) },
  charts: {
    what: '19,990 templates in an archive',
    reads: ['pipeline/mirror/charts/chart-files.ts', 'pipeline/mirror/charts/repository.ts'],
    bytes: () => {
      const templates = Array.from({ length: 19_990 }, (_, i) =>
        tar(`c/templates/${i}.yaml`, Buffer.from('x')).subarray(0, 1024),
      );
      const chart = tar('c/Chart.yaml', Buffer.from('name: c\nversion: 1.0.0\n')).subarray(0, 1024);
      return gzipSync(Buffer.concat([chart, ...templates, Buffer.alloc(1024)]));
    },
    read: async (bytes) => {
      const folder = mkdtempSync(join(tmpdir(), 'hostile-chart-'));
      try {
        writeFileSync(join(folder, 'c.tgz'), bytes);
        await readChartFiles(join(folder, 'c.tgz'), folder);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  },
  SQLite: {
    what: 'a table that is a view without an end',
    reads: ['pipeline/catalogs/database/open.ts'],
    bytes: () =>
      database(
        'CREATE VIEW package AS WITH RECURSIVE c(name) AS (SELECT 1 UNION ALL SELECT name + 1 FROM c) SELECT name FROM c',
      ),
    read: (bytes) => orRefused(async () => (await openDatabase(bytes, 'index.db')).columns('package')),
  },
  gRPC: {
    what: 'a compressed message of zeros',
    reads: [
      'pipeline/catalogs/serve/grpc-messages.ts',
      'pipeline/catalogs/serve/grpc.ts',
      'pipeline/catalogs/serve/registry-client.ts',
    ],
    bytes: () => {
      const message = gzipSync(Buffer.alloc(64 << 20));
      const head = Buffer.alloc(5, 1);
      head.writeUInt32BE(message.length, 1);
      return Buffer.concat([head, message]);
    },
    read: (bytes) =>
      orRefused(async () => {
        const reader = new MessageReader('gzip');
        reader.add(Buffer.from(bytes));
        reader.next();
      }),
  },
  'ignore files': {
    what: 'stars in as many patterns as 1,000 files may have',
    reads: ['catalog/fbc/ignore.ts'],
    bytes: () => times(400, () => `${'*a'.repeat(24)}*b\n`),
    read: (bytes) => {
      const ignored = ignoreMatcher([['.indexignore', Buffer.from(bytes).toString()]]);
      for (let i = 0; i < 1000; i++) ignored(`${'a'.repeat(45)}${i}`);
    },
  },
  'layout patterns': {
    what: 'a pattern with all wildcards that a name may have, 20 paths of 250 characters',
    reads: ['pipeline/policy/layout.ts', 'pipeline/policy/setup/rivals.ts'],
    bytes: () => text('c/*a*a*ab/**'),
    read: (bytes) => {
      const layout = compileLayout([{ kind: 'catalog', pattern: Buffer.from(bytes).toString() }]);
      for (let i = 0; i < 20; i++) layout.match(`c/${'a'.repeat(250)}/x`);
    },
  },
  'JSON paths': {
    what: 'recursive descents',
    reads: ['catalog/mirror/helm/json-path.ts'],
    bytes: () => text(`{${'..*'.repeat(200)}}`),
    read: (bytes) =>
      orRefused(async () => {
        const value = Array.from({ length: 100 }, (_, i) => ({ a: { b: [i] } }));
        textsAt(value, parseJsonPath(Buffer.from(bytes).toString()));
      }),
  },
  'update graphs': {
    what: '20,000 releases, each updated by 30 others',
    reads: ['catalog/mirror/release/update-graph.ts'],
    bytes: () => {
      const nodes = Array.from({ length: 20_000 }, (_, i) => ({ version: `4.1.${i}`, payload: 'a' }));
      const edges = nodes.flatMap((_node, i) =>
        Array.from({ length: 30 }, (_edge, j) => [Math.max(0, i - j), i]),
      );
      return text(JSON.stringify({ nodes, edges }));
    },
    read: (bytes) =>
      orRefused(async () => {
        const graph = readUpdateGraph(Buffer.from(bytes).toString());
        const bounds = typeof graph === 'string' ? undefined : boundsOf(graph);
        if (bounds && typeof graph !== 'string') await shortestPath(graph, bounds.first, bounds.last);
      }),
  },
  'OpenPGP keys': {
    what: 'beginnings without an end',
    reads: ['pipeline/mirror/releases/openpgp.ts'],
    bytes: () => times(3000, () => '-----BEGIN PGP PUBLIC KEY BLOCK-----\n'),
    read: (bytes) => orRefused(async () => readKeyring(bytes)),
  },
  'reports between jobs': {
    what: 'zeros in brotli',
    reads: ['pipeline/report/packed-report.ts'],
    bytes: () => text(brotliCompressSync(Buffer.alloc(256 << 20)).toString('base64')),
    read: (bytes) => orRefused(async () => unpackedReport(Buffer.from(bytes).toString())),
  },
  'links of the playground': {
    what: 'zeros',
    reads: ['playground/share.ts'],
    bytes: () => text(`#share=${deflateRawSync(Buffer.alloc(256 << 20)).toString('base64url')}`),
    read: (bytes) => orRefused(() => sharedIn(Buffer.from(bytes).toString())),
  },
};
