/**
 * On which platforms packages say that they run. Only the head of the default channel speaks for
 * a package: OLM v0's package server reads the labels there.
 */
import { headOf } from '../fbc/channel.ts';
import type { Blob, Bundle, Channel } from '../fbc/model.ts';
import { ownText } from '../go/own-text.ts';
import { supportedPlatforms } from './csv.ts';
import type { ReferenceSite } from './reference-site.ts';

export interface Support {
  /** Name of the bundle that says so. */
  readonly bundle: string;
  /** `os/architecture`. */
  readonly platforms: readonly string[];
}

/** Notes what packages say while their blobs go by. */
interface SupportCollector {
  bundle(bundle: Bundle): void;
  other(blob: Blob): void;
  /** By package; those of which nothing is known are missing. */
  supports(): ReadonlyMap<string, Support>;
}

/** Collects, as blobs are read, on which platforms the head of each package's default channel says that it runs. */
export function createSupportCollector(): SupportCollector {
  const defaults = new Map<string, string>();
  const heads = new Map<string, string>();
  const platforms = new Map<string, readonly string[]>();
  const key = (...names: readonly string[]): string => JSON.stringify(names);
  return {
    bundle: (bundle) => {
      const supported = supportedPlatforms(bundle);
      if (supported) platforms.set(key(bundle.package, bundle.name), supported.map(ownText));
    },
    other: (blob) => {
      if (isChannel(blob)) heads.set(key(blob.package, blob.name), ownText(headOf(blob)?.name ?? ''));
      else if (blob.schema === 'olm.package') {
        const { defaultChannel } = blob.value;
        if (typeof defaultChannel === 'string') defaults.set(ownText(blob.name), ownText(defaultChannel));
      }
    },
    supports: () => {
      const found = [...defaults].flatMap(([name, channel]): [string, Support][] => {
        const bundle = heads.get(key(name, channel)) ?? '';
        const supported = platforms.get(key(name, bundle));
        return supported ? [[name, { bundle, platforms: supported }]] : [];
      });
      return new Map(found);
    },
  };
}

/** Whether a place names an image that must run where a package says that it does: all but the bundle itself. */
export function runsFor(
  { kind, package: name, bundle }: ReferenceSite,
  supports: ReadonlyMap<string, Support>,
): boolean {
  return kind === 'related' && bundle !== '' && supports.get(name)?.bundle === bundle;
}

function isChannel(blob: Blob): blob is Channel {
  return blob.schema === 'olm.channel' && 'entries' in blob;
}
