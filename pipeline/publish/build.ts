/** The index image of a publish: the catalog of the commit, checked, on the base image of the target. */
import type { Finding } from '../../catalog/finding.ts';
import { RULES } from '../../catalog/rules/index.ts';
import type { CatalogSource } from '../../catalog/source.ts';
import { wholeCatalog } from '../change/whole-catalog.ts';
import { type BuildOptions, type BuiltCatalog, buildCatalogImage } from '../oci/image/build.ts';
import type { ReadLayer } from '../oci/image/build-context.ts';
import { checkContents } from '../oci/image/package-verdicts.ts';
import type { ImageLocation } from '../oci/registry/image-location.ts';
import { openLayout } from '../oci/registry/layout/layout.ts';
import { layoutRegistry } from '../oci/registry/layout/registry.ts';
import { severitiesOf } from '../policy/severity.ts';
import { signatureDemands } from '../policy/signatures.ts';
import { applyWaivers } from '../policy/waiver.ts';
import type { Registry } from '../ports.ts';
import { basesUnder, type OpenBase, openBase } from './base.ts';
import type { Ended, PlannedPublish } from './plan.ts';

/** A publish whose image is built, and not pushed yet. */
export interface BuiltPublish extends Omit<PlannedPublish, 'kind'> {
  readonly kind: 'built';
  readonly source: CatalogSource;
  readonly base: OpenBase | undefined;
  readonly built: BuiltCatalog;
  /** Notes that are not errors. */
  readonly findings: readonly Finding[];
}

/**
 * Checks the catalog and builds its image.
 *
 * @param scratch an existing directory for layers
 * @throws PipelineError `not-found` for a catalog or base image that does not exist, and as {@link buildCatalogImage}
 */
export async function buildPublish(plan: PlannedPublish, scratch: string): Promise<BuiltPublish | Ended> {
  const { ports, request, commit, policy, target } = plan;
  const { repository, registry, progress } = ports;
  const { catalog, store } = request;
  const source = await wholeCatalog(repository.objects, commit, { layout: policy.layout, name: catalog });
  progress(`checking ${catalog} at ${commit.slice(0, 12)}`);
  const bases = basesUnder(policy, registry);
  const base = target.base && (await openBase(bases, target.base, signatureDemands(policy)));
  progress(
    base ? `building on base image ${base.name}` : 'building without a base image: the image has no server',
  );
  const { built, findings } = await buildCatalogImage(source, base?.image, {
    ...target.settings,
    ...(store ? { memory: { store, key: catalog } } : {}),
    scratch,
    earlier: publishedLayers(target.to, registry),
    check: optionsUnder(plan),
  });
  if (!built) return { kind: 'refused', findings };
  return { ...plan, kind: 'built', source, base, built, findings };
}

/** Findings as they count on the day: what is waived is not among them. */
function optionsUnder({ policy, request }: PlannedPublish): NonNullable<BuildOptions['check']> {
  const options = { rules: RULES, severityOf: severitiesOf(policy), limits: policy.limits };
  return async (contents, { verdicts }) => {
    const findings = await checkContents(contents, verdicts, options);
    const named = findings.map((finding) => ({ ...finding, catalogs: [request.catalog] }));
    return applyWaivers(named, policy.waivers, request.today).findings;
  };
}

/**
 * Reads layers where an image is published to. An archive is written anew each time: nothing is read of one.
 *
 * @param client for references
 */
export function publishedLayers(place: ImageLocation, client: Registry): ReadLayer | undefined {
  if (place.kind === 'registry') return (layer) => client.getBlob(place.reference, layer);
  if (place.kind !== 'oci') return undefined;
  return async function* read(layer) {
    const registry = layoutRegistry(await openLayout(place.path, { create: false }));
    yield* registry.getBlob({ registry: '', repository: place.tag?.repository ?? '' }, layer);
  };
}
