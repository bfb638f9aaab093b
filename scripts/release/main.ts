/**
 * What a release consists of, and where its image goes. `npm run build` comes before it.
 *
 *   node scripts/run.mjs scripts/release/main.ts prepare --tag vX.Y.Z --base-image REFERENCE --out DIR [--notes HEADING]
 *   node scripts/run.mjs scripts/release/main.ts push --from DIR --to REGISTRY/REPOSITORY [--sign keyless|FILE]
 *       [--plain-http HOST]
 *
 * prepare writes the npm package, the image of the command line and the bundle of Tekton's tasks and the Helm chart as OCI
 * layouts, the list of components (CycloneDX), the playground, the notes and the checksums. push pushes these layouts under
 * their versions, and signs them.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parse, type SemVer } from 'semver';
import { formatReference, parseReference, withDigest } from '../../catalog/reference.ts';
import { createRegistryClient, type RegistryClient } from '../../pipeline/oci/registry/client.ts';
import { authfileCredentials } from '../../pipeline/oci/registry/credentials.ts';
import { parseLocation } from '../../pipeline/oci/registry/image-location.ts';
import { openDestination, openSource } from '../../pipeline/oci/registry/open.ts';
import { copyImage, type ImageContent, pushImage } from '../../pipeline/oci/registry/push.ts';
import { COSIGN_PREDICATE } from '../../pipeline/oci/signatures/verify.ts';
import type { Repository } from '../../pipeline/ports.ts';
import { attachDocument } from '../../pipeline/publish/attest/artifact.ts';
import { cosignStatement } from '../../pipeline/publish/attest/provenance.ts';
import { signedStatement } from '../../pipeline/publish/attest/sign.ts';
import type { Signer } from '../../pipeline/publish/attest/signer.ts';
import { openBase } from '../../pipeline/publish/base.ts';
import { ARTIFACTS, FILES } from './artifacts.ts';
import { checksums } from './checksums.ts';
import { cliImage } from './cli-image.ts';

const LAYOUT = 'image';
/** Where the image goes, by which the tasks name it. */
const IMAGE = 'ghcr.io/portolan/portolan';
const NOTES = 'notes.md';
const ARCHITECTURES = ['amd64', 'arm64'];
/** Where the image has the package. */
const PACKAGE = 'usr/local/lib/node_modules/portolan';
/** The functions for Kubernetes, and where the chart looks for them. */
const HOST = 'dist/kubernetes.mjs';
const HOST_IN_IMAGE = 'app/kubernetes.mjs';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    tag: { type: 'string' },
    'base-image': { type: 'string' },
    out: { type: 'string' },
    notes: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    sign: { type: 'string' },
    'plain-http': { type: 'string', multiple: true },
  },
});
const client = createRegistryClient({
  plainHttp: values['plain-http'] ?? [],
  internal: values['plain-http'] ?? [],
  credentials: authfileCredentials({ environment: process.env }),
});
try {
  const [step] = positionals;
  if (step === 'prepare') await prepare();
  else if (step === 'push') await push();
  else throw new Error('the first word must be prepare or push');
} finally {
  client.close();
}

/** The value of an option. @throws Error without it */
function needed(option: keyof typeof values): string {
  const value = values[option];
  if (typeof value !== 'string') throw new Error(`--${option} is missing`);
  return value;
}

/** Writes everything that a release consists of into a directory, which is emptied before. Checksums come last. */
async function prepare(): Promise<void> {
  const version = versionOf(needed('tag'));
  const out = resolve(needed('out'));
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, NOTES), notesOf(values.notes ?? version));
  const packed = run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', out]).trim();
  writeFileSync(
    join(out, 'sbom.cdx.json'),
    run('npm', ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application']),
  );
  run(process.execPath, ['scripts/playground.mjs', join(out, 'playground.html')]);
  for (const { name, text } of FILES) writeFileSync(join(out, name), text());
  const digest = await buildImage(join(out, packed), version, out);
  for (const { layout, make } of ARTIFACTS)
    await writeLayout(await make({ version, image: IMAGE, digest }), join(out, layout), version);
  const layouts = [LAYOUT, ...ARTIFACTS.map(({ layout }) => layout)].map((name) => `${name}/`);
  const files = readdirSync(out, { withFileTypes: true }).filter((entry) => entry.isFile());
  writeFileSync(join(out, 'SHA256SUMS'), checksums(out));
  process.stdout.write(
    `${out}: ${[...files.map(({ name }) => name), 'SHA256SUMS', ...layouts].join(', ')}\n`,
  );
}

/** A tag names the version of the package: nothing is released under another one. */
function versionOf(tag: string): string {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  if (tag !== `v${version}` || parse(tag) === null) {
    throw new Error(
      `the tag is ${tag}, but package.json has version ${version}: the tag must be v${version}`,
    );
  }
  return version;
}

/** The section of the changelog under a heading. */
function notesOf(heading: string): string {
  const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
  const section = sections.find((text) => text.split('\n')[0]?.split(' ')[0] === heading);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section ## ${heading}`);
  return `${section.slice(section.indexOf('\n')).trim()}\n`;
}

/** The package with what it depends on, as the lock file says, and the functions, on top of the base. */
async function buildImage(tarball: string, version: string, out: string): Promise<string> {
  const stage = mkdtempSync(join(tmpdir(), 'portolan-release-'));
  try {
    const folder = join(stage, PACKAGE);
    mkdirSync(folder, { recursive: true });
    run('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1', '--no-same-owner']);
    writeFileSync(join(folder, 'package-lock.json'), readFileSync('package-lock.json'));
    run('npm', ['ci', '--silent', '--omit=dev', '--ignore-scripts', '--prefix', folder]);
    rmSync(join(folder, 'package-lock.json'));
    // The functions for Kubernetes run from the same image; who installs the package does not need them.
    mkdirSync(join(stage, 'app'));
    copyFileSync(HOST, join(stage, HOST_IN_IMAGE));
    mkdirSync(join(stage, 'usr/local/bin'));
    symlinkSync(`/${PACKAGE}/dist/portolan.mjs`, join(stage, 'usr/local/bin/portolan'));
    const base = await openBase(client, parseLocation(needed('base-image')));
    const image = await cliImage(base, {
      stage,
      entrypoint: ['node', `/${PACKAGE}/dist/portolan.mjs`],
      architectures: ARCHITECTURES,
      labels: {
        'org.opencontainers.image.title': 'portolan',
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.revision': run('git', ['rev-parse', 'HEAD']).trim(),
        'org.opencontainers.image.licenses': 'Apache-2.0',
        'org.opencontainers.image.base.digest': base.image.digest,
      },
    });
    await writeLayout(image, join(out, LAYOUT), version);
    await base.source.close();
    return image.root.digest;
  } finally {
    rmSync(stage, { recursive: true });
  }
}

/** Writes an image into an OCI layout, under a tag. */
async function writeLayout(image: ImageContent, path: string, tag: string): Promise<void> {
  const { registry, reference, finish } = await openDestination(parseLocation(`oci:${path}:${tag}`), client);
  await pushImage(registry, reference, { image });
  await finish();
}

/** Pushes the image of the command line, then the artifacts that name it. */
async function push(): Promise<void> {
  await pushLayout(LAYOUT, needed('to'));
  for (const { layout, place } of ARTIFACTS) await pushLayout(layout, `${needed('to')}/${place}`);
}

/** Pushes the image of a layout under its versions. */
async function pushLayout(layout: string, to: string): Promise<void> {
  const from = await openSource(parseLocation(`oci:${join(resolve(needed('from')), layout)}`), client);
  const version = from.reference.kind === 'tag' ? from.reference.tag : '';
  const read = parse(version);
  if (!read) throw new Error(`the layout must have one image whose tag is a version, not ${version}`);
  const newer = await newerReleases(parseReference(`${to}:${version}`), read);
  const moving = [`${read.major}.${read.minor}`, `${read.major}`];
  // A prerelease is known by its own name only, and an older release takes no tag back.
  const isNewest = (tag: string): boolean =>
    read.prerelease.length === 0 && !newer.some((one) => one === tag || one.startsWith(`${tag}.`));
  const tags = [version, ...moving.filter(isNewest)];
  for (const tag of tags) {
    const reference = parseReference(`${to}:${tag}`);
    const { digest } = await copyImage(from, { registry: client, reference });
    if (tag === version) await sign(client, withDigest(reference, digest));
    process.stdout.write(`${formatReference(reference)}: ${digest}\n`);
  }
  await from.close();
}

/** Versions in a repository that are newer than one; prereleases do not count. */
async function newerReleases(repository: Repository, than: SemVer): Promise<string[]> {
  const newer: string[] = [];
  for await (const tag of client.listTags(repository)) {
    const version = parse(tag);
    if (version && version.prerelease.length === 0 && version.compare(than) > 0) newer.push(version.version);
  }
  return newer;
}

/** Puts a signature in cosign's format beside the image, before the tags that move name it. */
async function sign(registry: RegistryClient, image: ReturnType<typeof withDigest>): Promise<void> {
  if (values.sign === undefined) return;
  const signer: Signer =
    values.sign === 'keyless' ? { kind: 'keyless' } : { kind: 'key', key: readFileSync(values.sign, 'utf8') };
  const manifest = await registry.getManifest(image);
  if (!manifest) throw new Error(`${formatReference(image)} is not there`);
  const statement = await signedStatement(cosignStatement(image.digest), COSIGN_PREDICATE, signer);
  await attachDocument(registry, { reference: image, manifest }, statement);
}

/** Runs a program. @returns standard output, up to 256 MiB; Node allows 1 MiB by default */
function run(program: string, words: readonly string[]): string {
  return execFileSync(program, words, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
