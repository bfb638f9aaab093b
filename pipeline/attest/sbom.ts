/**
 * What is in an index image, as a CycloneDX document: its packages, and of each the bundles with their images.
 * It follows from the image alone: no time, no serial number.
 *
 * @see https://cyclonedx.org/docs/1.6/json/
 */
import { type Reference, repositoryName, tryParseReference } from '../../catalog/reference.ts';
import type { BundleFacts } from '../image/memory.ts';
import type { Attachment } from './artifact.ts';

export interface ListedPackage {
  readonly name: string;
  readonly bundles: readonly BundleFacts[];
}

export interface SbomSubject {
  /** The place of the image. */
  readonly name: string;
  /** Digest of its manifest list. */
  readonly digest: string;
  /** Digest of the base's manifest list. */
  readonly base?: string | undefined;
}

/** Type of the artifact. */
export const SBOM_TYPE = 'application/vnd.cyclonedx+json';

/** The library is loaded when a document is wanted: most publishes want none. */
export async function sbomOf(subject: SbomSubject, packages: readonly ListedPackage[]): Promise<Attachment> {
  const { ComponentType } = await import('@cyclonedx/cyclonedx-library/Enums');
  const { Bom, Component } = await import('@cyclonedx/cyclonedx-library/Models');
  const { Spec1dot6 } = await import('@cyclonedx/cyclonedx-library/Spec');
  const { JSON: Json, JsonSerializer } = await import('@cyclonedx/cyclonedx-library/Serialize');
  const bom = new Bom();
  const { name, digest, base } = subject;
  const image = new Component(ComponentType.Container, name, { version: digest, bomRef: digest });
  bom.metadata.component = image;
  if (base !== undefined) {
    const below = new Component(ComponentType.Container, 'base image', { version: base, bomRef: base });
    bom.components.add(below);
    image.dependencies.add(below.bomRef);
  }
  for (const { name: packageName, bundles } of packages) {
    const component = new Component(ComponentType.Application, packageName, {
      bomRef: `package ${packageName}`,
    });
    for (const bundle of bundles) {
      const purl = purlOf(bundle);
      component.components.add(
        new Component(ComponentType.Container, bundle.name, {
          version: bundle.version,
          bomRef: `bundle ${packageName} ${bundle.name}`,
          ...(purl === undefined ? {} : { purl }),
        }),
      );
    }
    bom.components.add(component);
  }
  const text = new JsonSerializer(new Json.Normalize.Factory(Spec1dot6)).serialize(bom, { sortLists: true });
  return { artifactType: SBOM_TYPE, bytes: new TextEncoder().encode(text) };
}

/** @see https://github.com/package-url/purl-spec/blob/main/types-doc/oci-definition.md */
function purlOf({ image, version }: BundleFacts): string | undefined {
  const reference = tryParseReference(image);
  if (!reference) return undefined;
  const named = encodeURIComponent(digestIn(reference) ?? version);
  return `pkg:oci/${nameOf(reference)}@${named}?repository_url=${encodeURIComponent(repositoryName(reference))}`;
}

function nameOf({ repository }: Reference): string {
  return encodeURIComponent(repository.slice(repository.lastIndexOf('/') + 1).toLowerCase());
}

function digestIn(reference: Reference): string | undefined {
  return reference.kind === 'digest' ? reference.digest : undefined;
}
