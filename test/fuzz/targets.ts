/**
 * What reads bytes that others wrote, each as a function of bytes: it ends in a value, or in the error that its
 * documentation names. Anything else is a defect: another exception, a value that contradicts itself, a second of CPU.
 *
 * `npm run fuzz` runs them with bytes that libFuzzer makes, `corpus.test.ts` with the bytes in `corpus/`.
 */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { deflateSync } from 'node:zlib';
import { inspectedBundle } from '../../catalog/bundle/inspect.ts';
import { readOperatorFolder } from '../../catalog/bundle/operator-folder.ts';
import { readPackageFolder } from '../../catalog/bundle/package-manifest.ts';
import { readBundle } from '../../catalog/bundle/registry-bundle.ts';
import { parseImageTemplate } from '../../catalog/bundle/render.ts';
import { readCrd } from '../../catalog/crd/crd.ts';
import { legacyChanges } from '../../catalog/crd/legacy.ts';
import { unsafeChanges } from '../../catalog/crd/safety.ts';
import { manifestIn, manifestOfKind } from '../../catalog/fbc/bundle-object.ts';
import { readDocuments } from '../../catalog/fbc/documents.ts';
import { fragmentIn } from '../../catalog/fbc/fragment.ts';
import { load } from '../../catalog/fbc/load.ts';
import { renderBlob, renderOrder } from '../../catalog/fbc/render.ts';
import { decodeBase64, encodeBase64 } from '../../catalog/go/base64.ts';
import { readJson } from '../../catalog/go/json.ts';
import { readDeleteList } from '../../catalog/mirror/documents/delete-list.ts';
import { readImageSet } from '../../catalog/mirror/image-set.ts';
import { InvalidOption } from '../../catalog/mirror/invalid-option.ts';
import { mappingText, readMapping } from '../../catalog/mirror/mapping.ts';
import { InvalidRegistriesConf, readRegistriesConf } from '../../catalog/mirror/node/registries-conf.ts';
import { parseOcReference } from '../../catalog/mirror/oc.ts';
import { readObjects } from '../../catalog/mirror/read.ts';
import { readReport as readMirrorReport } from '../../catalog/mirror/report.ts';
import { parseChoice } from '../../catalog/mirror/select/select.ts';
import { parseHome } from '../../catalog/mirror/style.ts';
import { parseBound } from '../../catalog/mirror/version-bound.ts';
import { manifestPart } from '../../catalog/olm/manifests.ts';
import { readVersionList, VersionListError } from '../../catalog/olm/suggest/version-list.ts';
import { mermaidGraph } from '../../catalog/opm/mermaid.ts';
import { convertTo, TEMPLATE_KINDS, templateKind } from '../../catalog/opm/template/kinds.ts';
import { TemplateError } from '../../catalog/opm/template/template.ts';
import {
  checkDigest,
  formatReference,
  InvalidReference,
  parseReference,
  tryParseReference,
} from '../../catalog/reference.ts';
import { formatLock, InvalidLock, readLock } from '../../catalog/references/lock.ts';
import { CATALOG_RULES } from '../../catalog/rules/catalog.ts';
import { checkCatalog } from '../../catalog/rules/check-catalog.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { INSPECTION_RULES } from '../../catalog/rules/inspection.ts';
import { runFragmentChecks, runInspection, runOperatorChecks } from '../../catalog/rules/rule.ts';
import type { CatalogSource, SourceFile } from '../../catalog/source.ts';
import { meets, parseVersionConstraint } from '../../catalog/version/constraint.ts';
import { satisfies } from '../../catalog/version/satisfies.ts';
import {
  compareVersions,
  formatVersion,
  parseRange,
  parseRelease,
  parseTolerant,
  parseVersion,
  tryParseVersion,
  VersionError,
} from '../../catalog/version/version.ts';
import { compose } from '../../catalog/yaml/compose.ts';
import { EmitError, emitYaml } from '../../catalog/yaml/emit.ts';
import { readFast } from '../../catalog/yaml/fast.ts';
import { readTree } from '../../catalog/yaml/parser.ts';
import type { Json } from '../../catalog/yaml/scalar.ts';
import { YamlError } from '../../catalog/yaml/tree.ts';
import { readComposite } from '../../pipeline/catalogs/render/composite.ts';
import { itemsOf, readCluster } from '../../pipeline/check/cluster.ts';
import { readFleet } from '../../pipeline/check/fleet/read-fleet.ts';
import { readLedger } from '../../pipeline/check/world/ledger.ts';
import { clusterAccess } from '../../pipeline/cli/inventory/kubeconfig.ts';
import { isCatalogText } from '../../pipeline/cli/lsp/other-files.ts';
import { type Position, SegmentedText } from '../../pipeline/cli/lsp/segmented-text.ts';
import { viewOf } from '../../pipeline/cli/migration/cluster-view.ts';
import { migrationOf } from '../../pipeline/cli/migration/migration.ts';
import { PipelineError } from '../../pipeline/error.ts';
import { forgejoWebhooks } from '../../pipeline/forge/forgejo/webhook.ts';
import { gitLabWebhooks } from '../../pipeline/forge/gitlab/webhook.ts';
import type { Webhooks } from '../../pipeline/forge/webhook.ts';
import { parseCommit, parseTrailers } from '../../pipeline/git/commit.ts';
import { type ObjectFormat, objectId, readPack } from '../../pipeline/git/http/pack.ts';
import { pktLines, readCapabilities, readFetch, readRef } from '../../pipeline/git/http/protocol.ts';
import { type GitObject, ObjectReader } from '../../pipeline/git/objects.ts';
import { gitHubWebhooks } from '../../pipeline/github/webhook.ts';
import { readReceipt } from '../../pipeline/mirror/archive/receipt.ts';
import { digestOf } from '../../pipeline/oci/digest.ts';
import { decompressed } from '../../pipeline/oci/image/decompress.ts';
import { readTree as readImageTree } from '../../pipeline/oci/image/tree.ts';
import { readTarIndex } from '../../pipeline/oci/registry/archive/tar.ts';
import { parseChallenges } from '../../pipeline/oci/registry/auth.ts';
import type { Endpoint } from '../../pipeline/oci/registry/endpoint.ts';
import { retryAfter } from '../../pipeline/oci/registry/http/retry.ts';
import { contentOf, imagesFor, manifestType, parseManifest } from '../../pipeline/oci/registry/image.ts';
import { formatLocation, parseLocation } from '../../pipeline/oci/registry/image-location.ts';
import { parseChanges, parseIndex } from '../../pipeline/oci/registry/layout/entries.ts';
import { getManifest, resolveManifest } from '../../pipeline/oci/registry/manifest.ts';
import { formatLayoutTag, parseLayoutTag } from '../../pipeline/oci/registry/name.ts';
import { quirksOf } from '../../pipeline/oci/registry/quirks.ts';
import { listReferrers } from '../../pipeline/oci/registry/referrers.ts';
import { listTags } from '../../pipeline/oci/registry/tags.ts';
import { readAdvisory } from '../../pipeline/policy/advisories.ts';
import { parseIdentity } from '../../pipeline/policy/identity.ts';
import { readCodeOwners } from '../../pipeline/policy/owners/code-owners.ts';
import { readAliases, readOwnersFile } from '../../pipeline/policy/owners/prow.ts';
import { readPolicy } from '../../pipeline/policy/read-policy.ts';
import { isTemplateText } from '../../pipeline/policy/setup/catalog-files.ts';
import { readReport, readWork } from '../../pipeline/publish/delivery/message.ts';
import { parseClaim, parseLease } from '../../pipeline/publish/fence-records.ts';
import { readPublishReceipt } from '../../pipeline/publish/receipt.ts';
import { parseRings } from '../../pipeline/publish/rings/read.ts';
import { ringsText } from '../../pipeline/publish/rings/state.ts';
import { unpackedReport } from '../../pipeline/report/packed-report.ts';
import { mermaidText } from '../../pipeline/report/pictures/mermaid.ts';
import { readSettings } from '../../pipeline/settings.ts';

/** One parser, or some that read the same. */
export type Target = (bytes: Buffer) => void | Promise<void>;

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** What a reader may throw; `undefined` is what it threw. */
function orError<T>(read: () => T, ...errors: readonly (new (...all: never[]) => Error)[]): T | undefined {
  try {
    return read();
  } catch (error) {
    if (errors.some((kind) => error instanceof kind)) return undefined;
    throw error;
  }
}

/** Reads all of a compressed layer. @param magic its first bytes, which stay as they are */
async function decompressAll(bytes: Uint8Array, magic: string): Promise<void> {
  const start = Buffer.from(magic, 'hex');
  const layer = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.concat([start, bytes.subarray(start.length)]);
  };
  for await (const _ of decompressed(layer()));
}

async function settled(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
  }
}

function mustBe(condition: boolean, what: string): void {
  if (!condition) throw new Error(`broken promise: ${what}`);
}

/** Files of a source, cut at lines of `==== PATH`. */
function filesIn(all: string): CatalogSource {
  const [first = '', ...more] = all.split(/^==== (.*)$/m);
  const files: SourceFile[] = [{ path: 'catalog.yaml', read: () => Buffer.from(first) }];
  for (let i = 0; i + 1 < more.length; i += 2) {
    const content = Buffer.from((more[i + 1] ?? '').replace(/^\n/, ''));
    files.push({ path: more[i] || 'empty', read: () => content });
  }
  return { files: () => Promise.resolve(first === '' ? files.slice(1) : files) };
}

function positionAt(source: string, at: number): Position {
  const lines = source.slice(0, at).split('\n');
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
}

/** A file of bytes for what reads from a file. */
function handleOf(bytes: Buffer): FileHandle {
  const read = (into: Buffer, offset: number, length: number, position: number) => {
    const bytesRead = bytes.copy(into, offset, position, position + length);
    return Promise.resolve({ bytesRead, buffer: into });
  };
  return { stat: () => Promise.resolve({ size: bytes.length }), read } as unknown as FileHandle;
}

const BLOCK = 512;

/** The bytes with right checksums in what looks like the header of an entry, which no mutation keeps. */
function withChecksums(bytes: Buffer): Buffer {
  const tar = Buffer.from(bytes);
  for (let at = 0; at + BLOCK <= tar.length; at += BLOCK) {
    if (tar.toString('latin1', at + 257, at + 262) !== 'ustar') continue;
    tar.fill(' ', at + 148, at + 156);
    let sum = 0;
    for (let i = at; i < at + BLOCK; i++) sum += tar[i] ?? 0;
    tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148, 'latin1');
  }
  return tar;
}

const SMALL = { bytes: 1 << 22, layerBytes: 1 << 22, fileBytes: 1 << 20, entries: 1000 };
const DIGEST = `sha256:${'0'.repeat(64)}`;

/** A registry that gives the same answer to everything: a line of the status, lines of headers, an empty line, a body. */
function endpointOf(bytes: Buffer): Endpoint {
  const end = bytes.indexOf('\n\n');
  const [status = '', ...lines] = bytes.toString('latin1', 0, end < 0 ? undefined : end).split('\n');
  const headers = Object.fromEntries(
    lines.flatMap((line) => {
      const colon = line.indexOf(':');
      return colon < 1 ? [] : [[line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]];
    }),
  );
  const base = new URL('https://r.example');
  const body = end < 0 ? Buffer.alloc(0) : bytes.subarray(end + 2);
  let asked = 0;
  const ask: Endpoint['ask'] = ({ to }) => {
    // A next page of a next page may go on for as long as the client's limits let it.
    if (++asked > 50) return Promise.reject(new PipelineError('unreachable', 'enough was asked'));
    const url = to instanceof URL ? to : new URL(`/v2/${to}`, base);
    const answer = async function* (): AsyncGenerator<Uint8Array> {
      yield body;
    };
    return Promise.resolve({
      status: Number(status) || 200,
      headers,
      url,
      body: answer(),
      whole: () => Promise.resolve({ bytes: body }),
      discard: () => Promise.resolve(),
    });
  };
  return {
    registry: 'r.example',
    base,
    quirks: quirksOf('r.example'),
    learnt: {},
    ask,
    attempt: (work) => work({} as never),
    follow: (location, from) => {
      try {
        return new URL(location ?? '', from);
      } catch {
        throw new PipelineError('bad-answer', 'not a location');
      }
    },
  };
}

const PACK_LIMITS = { objects: 1000, object: 1 << 20, total: 1 << 22 };

/** A pack of what entries say, deflated and with its digest: a byte of the type, two of the length, the bytes. */
function packIn(bytes: Buffer, format: ObjectFormat): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (; at + 3 <= bytes.length && parts.length < 50; ) {
    const kind = (bytes[at] ?? 0) & 7;
    const length = bytes.readUInt16BE(at + 1) & 0xfff;
    let content = bytes.subarray(at + 3, at + 3 + length);
    at += 3 + length;
    const size = content.length;
    let head = Buffer.from([(kind << 4) | (size & 15) | (size > 15 ? 0x80 : 0)]);
    for (let rest = size >> 4; rest > 0; rest >>= 7)
      head = Buffer.concat([head, Buffer.from([(rest & 127) | (rest > 127 ? 0x80 : 0)])]);
    if (kind === 6) {
      head = Buffer.concat([head, content.subarray(0, 1)]);
      content = content.subarray(1);
    } else if (kind === 7) {
      head = Buffer.concat([head, content.subarray(0, 20)]);
      content = content.subarray(20);
    }
    parts.push(Buffer.concat([head, deflateSync(content, { level: 1 })]));
  }
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  head.writeUInt32BE(parts.length, 8);
  return signedPack(Buffer.concat([head, ...parts]), format);
}

function signedPack(body: Buffer, format: ObjectFormat): Buffer {
  return Buffer.concat([body, createHash(format).update(body).digest()]);
}

/** Lines of a drawing of ours: names stand between quotation marks, and nothing leads out of these. */
const MERMAID =
  /^(?:flowchart LR| {2}subgraph l\d+\["[^"\n]*"\](?::::[a-z]+)?| {4}l\d+n\d+(?:\[|\(\[)"[^"\n]*"(?:\]\)|\])(?::::[a-z]+)?| {2}end| {2}l\d+n\d+ [-.=<>xo|a-zA-Z0-9 "]+ l\d+n\d+| {2}(?:linkStyle|classDef|class|style) [\w ,:#;.-]+|)$/;

/** Targets by name. */
export const TARGETS: Readonly<Record<string, Target>> = {
  yaml: (bytes) => {
    const source = text(bytes).replaceAll('\r\n', '\n');
    const full = orError(() => compose(readTree(source, { depth: 100 }).root).value, YamlError);
    const fast = /^(?:---|\.\.\.)/m.test(source) ? undefined : readFast(source, 0, source.length, 1);
    if (fast) mustBe(isDeepStrictEqual(fast.value, full), 'both readers read the same');
  },
  'yaml-written': (bytes) => {
    const read = readJson(text(bytes));
    // Go writes this key so that it reads back as another thing.
    if (!('value' in read) || /"(?:<|\\u003c){2}"/i.test(text(bytes))) return;
    const yaml = orError(() => emitYaml(read.value as Json), EmitError);
    if (yaml !== undefined) compose(readTree(yaml, { depth: 10_000 }).root);
  },
  documents: (bytes) => {
    for (const { value, document } of readDocuments('f', bytes, { limits: { depth: 100 }, findings: [] })) {
      JSON.stringify(value);
      document.locate([]);
    }
  },
  json: (bytes) => {
    const source = text(bytes);
    const read = readJson(source);
    // The engine accepts no more than Go does.
    if ('defect' in read)
      mustBe(
        orError(() => JSON.parse(source) ?? true, SyntaxError) === undefined ||
          BEYOND.test(source) ||
          source.length > 5000,
        'what the engine reads is read',
      );
  },
  base64: (bytes) => {
    mustBe(Buffer.from(decodeBase64(encodeBase64(bytes))).equals(bytes), 'base64 reads back');
    decodeBase64(bytes.toString('latin1'));
  },
  versions: (bytes) => {
    const [a = '', b = ''] = text(bytes).split('\n');
    const one = orError(() => parseVersion(a), VersionError);
    const two = orError(() => parseTolerant(b), VersionError);
    orError(() => parseRelease(b), VersionError);
    parseBound(a);
    if (one) mustBe(isDeepStrictEqual(parseVersion(formatVersion(one)), one), 'a version reads back');
    if (one && two)
      mustBe(
        compareVersions(one, two) === -compareVersions(two, one) || compareVersions(one, two) === 0,
        'versions have one order',
      );
  },
  ranges: (bytes) => {
    const [a = '', b = '', c = '1.2.3'] = text(bytes).split('\n');
    const version = tryParseVersion(c) ?? parseVersion('1.2.3');
    const range = orError(() => parseRange(a), VersionError);
    if (range) orError(() => satisfies(version, range), VersionError);
    const constraint = orError(() => parseVersionConstraint(b), VersionError);
    if (constraint) meets(version, constraint);
  },
  references: (bytes) => {
    const source = text(bytes);
    const reference = tryParseReference(source);
    if (reference)
      mustBe(
        isDeepStrictEqual(parseReference(formatReference(reference)), reference),
        'a reference reads back',
      );
    orError(() => checkDigest(source), InvalidReference);
    orError(() => parseHome(source), InvalidOption);
    orError(() => parseOcReference(source), InvalidOption, InvalidReference);
    const tag = parseLayoutTag(source);
    if (tag) mustBe(isDeepStrictEqual(parseLayoutTag(formatLayoutTag(tag)), tag), 'a tag reads back');
    const place = orError(() => parseLocation(source), PipelineError);
    if (place) formatLocation(place);
    parseChoice(source);
    parseIdentity(source);
    orError(() => parseImageTemplate(source), SyntaxError);
    const lock = orError(() => readLock(source), InvalidLock);
    if (lock) mustBe(isDeepStrictEqual(readLock(formatLock(lock)), lock), 'a lock reads back');
  },
  tar: async (bytes) => settled(() => readTarIndex(handleOf(withChecksums(bytes)), 'a.tar')),
  zstd: async (bytes) => settled(() => decompressAll(bytes, '28b52ffd')),
  gzip: async (bytes) => settled(() => decompressAll(bytes, '1f8b')),
  layers: async (bytes) =>
    settled(async () => {
      const layer = async function* (): AsyncGenerator<Uint8Array> {
        yield (bytes[0] ?? 0) % 2 === 0 ? withChecksums(bytes.subarray(1)) : bytes.subarray(1);
      };
      const tree = await readImageTree([layer()], { scratch: tmpdir(), wanted: () => true, limits: SMALL });
      try {
        for (const [path, entry] of tree.entries) {
          mustBe(!path.startsWith('/') && !path.split('/').includes('..'), 'no path leads out');
          if (entry.kind === 'file') mustBe(tree.read(entry).length === entry.size, 'a file has its size');
        }
      } finally {
        tree.close();
      }
    }),
  'image-manifests': (bytes) => {
    const types = [
      'application/vnd.oci.image.index.v1+json',
      'application/vnd.oci.image.manifest.v1+json',
      '',
    ];
    for (const header of types) {
      const mediaType = manifestType(bytes, header);
      const manifest = orError(() => parseManifest({ bytes, mediaType, digest: DIGEST }), PipelineError);
      if (!manifest) continue;
      contentOf(manifest);
      if (manifest.kind === 'list') imagesFor(manifest.manifests, ['linux/amd64']);
    }
    orError(() => parseIndex(bytes, 'index.json'), PipelineError);
    orError(() => parseChanges(text(bytes), 'changes'), PipelineError);
  },
  'registry-replies': async (bytes) => {
    const of = { registry: 'r.example', repository: 'a/b' };
    for (const challenge of parseChallenges(bytes.toString('latin1')))
      mustBe(challenge.scheme !== '', 'a scheme');
    mustBe(Number.isFinite(retryAfter(bytes.toString('latin1'), 0)), 'a pause is a number');
    await settled(() => resolveManifest(endpointOf(bytes), { kind: 'tag', ...of, tag: 't' }, 10_000));
    await settled(async () => {
      const manifest = await getManifest(endpointOf(bytes), { kind: 'tag', ...of, tag: 't' }, 10_000);
      if (manifest)
        mustBe(
          manifest.digest.startsWith('sha512') ||
            manifest.digest.startsWith('sha384') ||
            digestOf(manifest.bytes) === manifest.digest,
          'the digest is that of the bytes',
        );
    });
    await settled(async () => {
      for await (const tag of listTags(endpointOf(bytes), of)) mustBe(/^\w[\w.-]{0,127}$/.test(tag), 'a tag');
    });
    await settled(() =>
      listReferrers(endpointOf(bytes), of, { digest: DIGEST, artifactType: undefined, limit: 10_000 }),
    );
  },
  policy: (bytes) => {
    readPolicy(bytes);
    readCodeOwners(text(bytes));
    const { settings } = readSettings('f', bytes);
    readOwnersFile(settings, { left: 1e12 });
    readAliases(settings);
  },
  'git-objects': async (bytes) => {
    parseCommit('0'.repeat(40), text(bytes));
    parseTrailers(text(bytes));
    for (const type of ['tree', 'commit'] as const) {
      const object: GitObject = { type, size: bytes.length, bytes };
      const reader = new ObjectReader({
        find: () => Promise.resolve(object),
        close: () => Promise.resolve(),
      });
      // A commit names its own tree here, which is a commit again: only its own text is read.
      await settled(() => (type === 'tree' ? reader.tree('1'.repeat(40)) : reader.treeOf('1'.repeat(40))));
    }
    orError(() => [...pktLines(bytes)], PipelineError);
    orError(() => readCapabilities(bytes), PipelineError);
    orError(() => readRef(bytes, 'refs/heads/main'), PipelineError);
    orError(() => readFetch(bytes), PipelineError);
  },
  'git-packs': (bytes) => {
    const format = (bytes[0] ?? 0) % 4 < 3 ? 'sha1' : 'sha256';
    const isWhole = (bytes[0] ?? 0) % 8 > 3;
    const rest = bytes.subarray(1);
    const pack = isWhole ? packIn(rest, format) : signedPack(rest, format);
    const objects = orError(() => readPack(pack, format, PACK_LIMITS), PipelineError);
    for (const [id, object] of objects ?? [])
      mustBe(objectId(object.type, object.bytes, format) === id, 'an object has its id');
  },
  templates: async (bytes) => {
    const source = { file: 'f', bytes };
    const kind = templateKind(source);
    for (const { written } of kind ? [kind] : TEMPLATE_KINDS)
      orError(() => written(source, []), TemplateError);
    convertTo('basic', source);
    convertTo('substitutes', source);
    readComposite('f', bytes);
    const refused = (): Promise<never> =>
      Promise.reject(new TemplateError('no image', { file: 'f', line: 1, column: 1 }));
    if (kind) await kind.expand(source, refused);
  },
  mermaid: (bytes) => {
    const names = text(bytes).split('\0');
    const at = (i: number): string => names[i % names.length] ?? '';
    const stops = names.slice(0, 40).map((bundle, i) => ({
      bundle,
      label: at(i + 1),
      kind: 'same' as const,
      isHead: i === 0,
      isSkipped: i % 3 === 0,
      isDeprecated: i % 5 === 0,
      stuck: i % 4 === 0 ? (['v0'] as const) : [],
      hops: [{ to: at(i + 1), olm: ['v0'] as const, kind: 'added' as const }],
      why: {},
    }));
    const lane = { channel: at(0), isDefault: true, kind: 'same' as const, isChanged: true, stops };
    const drawing = mermaidText({ package: at(1), lanes: [lane] }, names.length % 2 === 0) ?? '';
    for (const line of drawing.split('\n'))
      mustBe(MERMAID.test(line), `no name leads out of its quotation marks: ${JSON.stringify(line)}`);
  },
  catalogs: async (bytes) => {
    const source = filesIn(text(bytes));
    await checkCatalog(source, CATALOG_RULES);
    const { blobs } = await load(source);
    for (const blob of renderOrder(blobs)) {
      renderBlob(blob, 'json');
      orError(() => renderBlob(blob, 'yaml'), EmitError);
    }
    orError(() => mermaidGraph(blobs, { v0: true }), VersionError);
  },
  bundles: async (bytes) => {
    const source = filesIn(text(bytes));
    await readBundle(source);
    runInspection(await inspectedBundle(source), INSPECTION_RULES);
    await readPackageFolder(source);
  },
  crds: (bytes) => {
    const [older = '', newer = ''] = text(bytes).split(/^---$/m);
    const crd = (source: string) =>
      orError(() => readCrd(compose(readTree(source, { depth: 100 }).root).value), YamlError);
    const before = crd(older);
    const after = crd(newer);
    if (!before || !after) return;
    unsafeChanges(before, after);
    legacyChanges(before, after, 'v1.3');
    legacyChanges(before, after, 'v0.17');
  },
  'mirror-files': (bytes) => {
    const source = text(bytes);
    const { mappings, findings } = readMapping(source, 'f');
    if (findings.length === 0)
      mustBe(
        readMapping(mappingText(mappings), 'f').mappings.length === mappings.length,
        'mappings read back',
      );
    readImageSet(source, 'f');
    readDeleteList(source, 'f');
    readObjects(source, 'f');
    readMirrorReport(source);
    orError(() => readRegistriesConf(source), InvalidRegistriesConf);
    orError(() => readReceipt(source, 'f'), PipelineError);
  },
  messages: (bytes) => {
    const source = text(bytes);
    orError(() => readWork(source), PipelineError);
    orError(() => readReport(source), PipelineError);
    orError(() => parseLease(source, 'f'), PipelineError);
    orError(() => parseClaim(source, 'f'), PipelineError);
    orError(() => unpackedReport(source), PipelineError);
    orError(() => readLedger(source, 'f'), PipelineError);
    orError(() => readCluster(source, 'f'), PipelineError);
    readPublishReceipt(source);
  },
  advisories: (bytes) => {
    const { advisory, findings } = readAdvisory('advisories/A-1.yaml', bytes);
    mustBe((advisory === undefined) === findings.length > 0, 'an advisory or what is wrong with it');
  },
  fleets: (bytes) => {
    const files = text(bytes)
      .split('\0')
      .map((one, i) => ({ path: `f${i}`, text: one }));
    const fleet = orError(() => readFleet(files), PipelineError);
    for (const { count = 1 } of fleet?.fleet.rows ?? [])
      mustBe(Number.isSafeInteger(count) && count >= 0, 'clusters');
  },
  kubeconfigs: (bytes) => {
    const file = { path: 'f', bytes, readFile: (path: string) => path };
    for (const context of [undefined, 'c']) {
      const access = orError(() => clusterAccess(file, context), PipelineError);
      mustBe(access === undefined || new URL(access.server).protocol === 'https:', 'a token is sent by TLS');
    }
  },
  rings: (bytes) => {
    const state = orError(() => parseRings(text(bytes), 'f'), PipelineError);
    if (state) parseRings(ringsText(state), 'f', state.catalog);
  },
  'bundle-objects': (bytes) => {
    const data = encodeBase64(bytes);
    const manifest = manifestIn(data);
    for (const kind of ['CustomResourceDefinition', 'ClusterServiceVersion'])
      mustBe(
        isDeepStrictEqual(manifestOfKind(kind, data), manifest?.['kind'] === kind ? manifest : undefined),
        'a manifest is found by its kind',
      );
    manifestPart(manifest);
    readCrd(manifest);
  },
  'cluster-objects': async (bytes) => {
    const source = text(bytes);
    const objects = /^\s*[{[]/.test(source)
      ? (orError(() => itemsOf(source, 'f'), PipelineError) ?? [])
      : readObjects(source, 'f').objects.map(({ value }) => value);
    // As the API and the readers of files give them: objects alone.
    await migrationOf([], [viewOf('c', objects)], new Map());
  },
  'operator-folders': async (bytes) => {
    const operator = await readOperatorFolder(filesIn(text(bytes)), {
      path: 'operators/p',
      organization: '',
    });
    runOperatorChecks(operator, RULES, ({ severity }) => severity);
  },
  dockerfiles: (bytes) => {
    const files = ['catalog/etcd/catalog.yaml', 'catalog/notes.yaml'];
    const fragment = fragmentIn('catalog/Dockerfile', text(bytes), { files });
    if (!fragment) return;
    for (const hasPackage of [true, false])
      runFragmentChecks({ ...fragment, hasPackage }, RULES, ({ severity }) => severity);
  },
  edits: (bytes) => {
    const [first = '', ...rest] = text(bytes).split('\0');
    const edited = new SegmentedText(first);
    let whole = first;
    for (const [i, added] of rest.entries()) {
      const [from, length] = [(bytes[i] ?? 0) % (whole.length + 1), bytes[i + 1] ?? 0];
      const to = Math.min(whole.length, from + length);
      const range = { start: positionAt(whole, from), end: positionAt(whole, to) };
      edited.change({ range, text: added });
      whole = whole.slice(0, from) + added + whole.slice(to);
    }
    mustBe(edited.text === whole, 'an edited text is what the editor has');
    const lines = whole.split('\n');
    for (const [i, line] of lines.entries())
      mustBe(edited.line(i) === line.replace(/\r$/, ''), 'a line is that of the text');
    isCatalogText(whole);
    isTemplateText(whole);
  },
  'version-lists': (bytes) => {
    orError(() => readVersionList('p', text(bytes)), VersionListError);
  },
  webhooks: (bytes) => {
    const source = text(bytes);
    const named = (header: string, events: readonly string[], of: Webhooks): void => {
      for (const name of events) {
        const event = of.eventOf({ [header]: name }, source);
        if (event === undefined || event === 'other' || event.kind !== 'push') continue;
        mustBe(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(event.after), 'a push ends at a commit');
      }
    };
    named(
      'x-github-event',
      ['push', 'pull_request', 'pull_request_review', 'merge_group', 'check_run', 'membership'],
      gitHubWebhooks,
    );
    named('x-gitea-event', ['push', 'pull_request', 'pull_request_approved'], forgejoWebhooks);
    named('x-gitlab-event', ['Push Hook', 'Merge Request Hook', 'Pipeline Hook'], gitLabWebhooks);
  },
};

/** A number beyond those of JSON, which Go refuses and the engine takes for infinite. */
const BEYOND = /e\+?[0-9]{3}|[0-9]{300}/i;
