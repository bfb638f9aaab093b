/**
 * What is in an index image, as a CycloneDX document: its packages, and of each the bundles with their images.
 * It follows from the image alone: no time, no serial number.
 *
 * @see https://cyclonedx.org/docs/1.6/json/
 */
import { ComponentType } from '@cyclonedx/cyclonedx-library/Enums';
import { Bom, Component } from '@cyclonedx/cyclonedx-library/Models';
import { JSON as Json, JsonSerializer } from '@cyclonedx/cyclonedx-library/Serialize';
import { Spec1dot6 } from '@cyclonedx/cyclonedx-library/Spec';
import { type Reference, repositoryName, tryParseReference } from '../../../catalog/reference.ts';
import type { BundleFacts } from '../../oci/image/build-cache.ts';
import { type Attachment, SBOM_TYPE } from './artifact.ts';

interface ListedPackage {
  readonly name: string;
  readonly bundles: readonly BundleFacts[];
}

interface SbomSubject {
  /** The place of the image. */
  readonly name: string;
  /** Digest of its manifest list. */
  readonly digest: string;
  /** Digest of the base's manifest list. */
  readonly base?: string | undefined;
}

/** The document as an attachment. */
export function sbomOf(subject: SbomSubject, packages: readonly ListedPackage[]): Attachment {
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
  // Sorted, so that the same image gives the same bytes.
  const text = new JsonSerializer(new Json.Normalize.Factory(Spec1dot6)).serialize(bom, { sortLists: true });
  return { artifactType: SBOM_TYPE, bytes: new TextEncoder().encode(text) };
}

/**
 * The package URL of a bundle's image; undefined for a reference that is not valid.
 *
 * @see https://github.com/package-url/purl-spec/blob/main/types-doc/oci-definition.md
 */
function purlOf({ image, version }: BundleFacts): string | undefined {
  const reference = tryParseReference(image);
  if (!reference) return undefined;
  const versionText = encodeURIComponent(digestIn(reference) ?? version);
  return `pkg:oci/${nameOf(reference)}@${versionText}?repository_url=${encodeURIComponent(repositoryName(reference))}`;
}

/** The name in a package URL: the last part of the repository, in lower case as the specification has it. */
function nameOf({ repository }: Reference): string {
  return encodeURIComponent(repository.slice(repository.lastIndexOf('/') + 1).toLowerCase());
}

/** The digest in a reference; undefined for one with a tag alone. */
function digestIn(reference: Reference): string | undefined {
  return reference.kind === 'digest' ? reference.digest : undefined;
}
