/** What a database of the time before file-based catalogs holds, as data: rows whatever its schema was. */

export interface DatabaseRows {
  readonly packages: readonly PackageRow[];
  readonly channels: readonly ChannelRow[];
  readonly entries: readonly EntryRow[];
  /** By name. */
  readonly bundles: ReadonlyMap<string, BundleRow>;
}

export interface PackageRow {
  readonly name: string;
  /** Empty when there is none. */
  readonly defaultChannel: string;
}

interface ChannelRow {
  readonly package: string;
  readonly name: string;
  readonly head: string;
}

/** An edge into a bundle, or a bundle that nothing is replaced by. */
export interface EntryRow {
  readonly id: number;
  readonly package: string;
  readonly channel: string;
  readonly bundle: string;
  /** The entry that this one replaces. */
  readonly replaces: number | undefined;
  /** How far it is from the head of its channel. */
  readonly depth: number | undefined;
}

export interface BundleRow {
  readonly name: string;
  /** Empty for a bundle that is in the database only. */
  readonly image: string;
  readonly version: string;
  readonly skipRange: string;
  /** The ClusterServiceVersion as JSON, where it was kept. */
  readonly csv: string | undefined;
  /** Manifests as JSON, one behind another, where they were kept. */
  readonly manifests: string | undefined;
  readonly properties: readonly TypedRow[];
  readonly dependencies: readonly TypedRow[];
  /** References. */
  readonly relatedImages: readonly string[];
}

export interface TypedRow {
  readonly type: string;
  /** JSON text. */
  readonly value: string;
}

/** Why rows make no catalog. */
export class DatabaseError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DatabaseError';
  }
}
