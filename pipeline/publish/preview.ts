/**
 * The index image that a pull request would publish, before it is merged: built from the tree
 * of the merge, written as an image layout, read back, served, and asked for its packages.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../catalog/finding.ts';
import { serveCatalog } from '../catalogs/serve/serve.ts';
import { openCatalog } from '../catalogs/source/open.ts';
import { catalogToBuild } from '../change/commit-catalogs.ts';
import { catalogUnits } from '../change/unit.ts';
import { PipelineError } from '../error.ts';
import { mergedTree } from '../git/merge.ts';
import type { ObjectReader } from '../git/objects.ts';
import type { Repository } from '../git/repository.ts';
import { BUILD_DEFAULTS, buildCatalogImage } from '../oci/image/build.ts';
import { parseLocation } from '../oci/registry/image-location.ts';
import type { Policy } from '../policy/policy.ts';
import { policyOrLayoutAt } from '../policy/setup/policy-or-layout.ts';
import type { Registry } from '../ports.ts';
import { temporaryFolder } from '../write.ts';
import { basesUnder, openBase } from './base.ts';
import { catalogIdentity } from './published-catalogs.ts';
import { sendCatalogImages } from './push.ts';

interface PreviewRequest {
  /** Revisions. */
  readonly base: string;
  readonly head: string;
  /** A folder, which gets one image layout for each catalog. */
  readonly out: string;
  /** An image to build on; nothing when left out. */
  readonly onto?: string | undefined;
  readonly now: Date;
}

interface PreviewPorts {
  readonly repository: Repository;
  readonly registry: Registry;
}

export interface Previewed {
  readonly catalog: string;
  /** The layout, and the digest of the manifest list in it. Absent when it could not be built. */
  readonly layout?: string;
  readonly digest?: string;
  /** The packages that its server listed. */
  readonly packages: readonly string[];
  /** Packages that differ from the base branch. */
  readonly changed: readonly string[];
  readonly findings: readonly Finding[];
}

/**
 * Previews every catalog that differs between the base branch and the merge.
 *
 * @throws PipelineError `not-found`, `conflict` when the two cannot be merged, `usage` for a policy that cannot
 *   be read, `bad-answer` for a catalog that does not answer
 */
export async function previewCatalogs(ports: PreviewPorts, request: PreviewRequest): Promise<Previewed[]> {
  const { repository } = ports;
  const [base = '', head = ''] = await repository.resolve([request.base, request.head]);
  const { policy } = await policyOrLayoutAt(repository, base);
  if (!policy) throw new PipelineError('usage', 'cannot read the policy of the base branch');
  const merged = await mergedTree(repository, { base, head });
  if (merged.kind !== 'merged') throw new PipelineError('conflict', 'base and head cannot be merged');
  const trees = { base, merged: merged.tree };
  const names = await changedCatalogs(repository.objects, trees, policy);
  const previewed: Previewed[] = [];
  for (const name of names) previewed.push(await previewOne(ports, request, { trees, policy, name }));
  return previewed;
}

interface Trees {
  readonly base: string;
  readonly merged: string;
}

interface PreviewedCatalog {
  readonly trees: Trees;
  readonly policy: Policy;
  readonly name: string;
}

/** Catalogs of the merge that differ from the base branch, in files or only in their names. */
async function changedCatalogs(objects: ObjectReader, trees: Trees, policy: Policy): Promise<string[]> {
  const units = await catalogUnits(objects, trees.merged, policy.layout);
  const names = [...new Set([...units.values()].map(({ catalog }) => catalog))].sort();
  const differ = await Promise.all(
    names.map(async (name) => {
      const before = await catalogIdentity(objects, trees.base, { policy, name });
      return before !== (await catalogIdentity(objects, trees.merged, { policy, name }));
    }),
  );
  return names.filter((_, i) => differ[i]);
}

/** Builds the image of one catalog into a layout, and asks it as a cluster would. */
async function previewOne(
  { repository, registry }: PreviewPorts,
  { out, onto, now }: PreviewRequest,
  { trees, policy, name }: PreviewedCatalog,
): Promise<Previewed> {
  const { objects } = repository;
  const source = await catalogToBuild(objects, trees.merged, { layout: policy.layout, name });
  const changed = await changedPackages(objects, { trees, policy, name });
  const scratch = temporaryFolder('build');
  try {
    const base =
      onto === undefined ? undefined : await openBase(basesUnder(policy, registry), parseLocation(onto));
    const { built, findings } = await buildCatalogImage(source, base?.image, { ...BUILD_DEFAULTS, scratch });
    if (!built) return { catalog: name, packages: [], changed, findings };
    const layout = join(out, name);
    const place = { kind: 'oci', path: layout } as const;
    const sent = await sendCatalogImages(registry, [{ image: built.image, place, base, untagged: false }]);
    await sent.tag();
    const { digest } = built.image.manifestList;
    const asked = await askLayout(layout, { name, registry, now });
    return { catalog: name, layout, digest, changed, ...asked };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Packages whose own place in a catalog differs, or is on one side only; for a catalog in one file, none is told apart. */
async function changedPackages(
  objects: ObjectReader,
  { trees, policy, name }: PreviewedCatalog,
): Promise<string[]> {
  const before = await catalogUnits(objects, trees.base, policy.layout);
  const after = await catalogUnits(objects, trees.merged, policy.layout);
  const units = [...before.values(), ...after.values()].filter(({ catalog }) => catalog === name);
  const differing = units.filter(({ path }) => before.get(path)?.id !== after.get(path)?.id);
  return [...new Set(differing.flatMap(({ package: packageName }) => packageName ?? []))].sort();
}

/** Serves what was built, as it lies in its layout, and asks as a cluster would. */
async function askLayout(
  layout: string,
  { name, registry, now }: { readonly name: string; readonly registry: Registry; readonly now: Date },
): Promise<Pick<Previewed, 'packages' | 'findings'>> {
  const opened = await openCatalog(`oci:${layout}`, { directory: '/', registry: () => registry });
  try {
    const grpc = { host: '127.0.0.1', port: 0 };
    const serving = await serveCatalog({ source: opened.source, name, grpc, now });
    if (serving.kind === 'refused') return { packages: [], findings: serving.findings };
    try {
      // The libraries of gRPC are large: only this asks by them.
      const { listPackages } = await import('../catalogs/serve/registry-client.ts');
      return { packages: await listPackages(serving.grpc ?? 0), findings: [] };
    } finally {
      await serving.close();
    }
  } finally {
    await opened.close();
  }
}
