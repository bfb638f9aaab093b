import type { ImageContent } from '../../pipeline/oci/registry/push.ts';

/** What a release publishes beside the image of the command line. */
export interface Artifact {
  /** The folder of its OCI layout. */
  readonly layout: string;
  /** Where it is pushed, below the image's repository. */
  readonly place: string;
  make(release: Release): Promise<ImageContent>;
}

/** A file of a release. */
export interface ReleaseFile {
  readonly name: string;
  text(): string;
}

export interface Release {
  readonly version: string;
  /** Repository of the command line's image, which the artifacts start. */
  readonly image: string;
  readonly digest: string;
}
