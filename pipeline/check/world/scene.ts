/** What a check looks at: two states of a repository, and what reads them. */
import type { FilesOf } from '../../change/catalog-files.ts';
import type { Change } from '../../change/change.ts';
import type { Trees } from '../../change/classification-input.ts';
import type { FileReader } from '../../change/content.ts';
import type { ObjectReader } from '../../git/objects.ts';
import type { Policy } from '../../policy/policy.ts';
import type { ContextReader } from './context.ts';
import type { CatalogOrder } from './order.ts';
import type { BeforeAndAfter } from './touched-catalog.ts';

/** Two states of a repository, what changes between them, and the policy that holds. */
export interface CheckScene {
  readonly objects: ObjectReader;
  readonly policy: Policy;
  readonly trees: Trees;
  readonly change: Change;
}

/** What reads catalogs: `before` and `after` give the files of a catalog on each side of the merge. */
export interface CatalogReading extends CheckScene, BeforeAndAfter<FilesOf> {
  readonly order: CatalogOrder;
  readonly reader: FileReader;
  readonly context: ContextReader;
}

/** How many of the platform's next versions are looked at: clusters go to the next one, or past it to the one behind. */
export const FOLLOWING = 2;
