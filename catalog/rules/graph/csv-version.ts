import { headOf } from '../../fbc/channel.ts';
import { shortName } from '../../fbc/edge.ts';
import { type Bundle, type Channel, locate } from '../../fbc/model.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { isSameVersion, tryParseVersion, type Version } from '../../version/version.ts';
import { channelIn, placeOfHead } from '../finding-location.ts';
import { channelText } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

/**
 * OLM v0 compares a `skipRange` with the version of the installed ClusterServiceVersion, not with that of the catalog.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/source_csvs.go `newEntryFromV1Alpha1CSV`
 */
export const rule: Rule = {
  id: 'graph/csv-version',
  severity: 'error',
  summary: 'Reports channel heads whose ClusterServiceVersion has another version than the catalog',
  harm: { rank: 3, kind: 'loss' },
  reads: ['manifests'],
  foresee(world, report) {
    if (!world.olm.has('v0')) return;
    for (const { name, channels } of checkedPackages(world)) {
      const heads = [...channels.values()].flatMap((channel) => mislabeledHead(world, channel) ?? []);
      for (const [bundle, version] of new Map(heads.map((head) => [head.bundle, head.written]))) {
        const message = `the ClusterServiceVersion of ${shortName(bundle)} of package ${quoted(name)} has version ${version}, with which OLM v0 compares skipRange once it is installed`;
        const hint = 'publish a bundle whose ClusterServiceVersion has the version of the catalog';
        report(message, locate(bundle, 'properties'), {
          package: name,
          severity: 'warning',
          installed: [shortName(bundle)],
          hint,
        });
      }
    }
  },
  compare({ before, after, packages }, report) {
    if (!after.olm.has('v0')) return;
    for (const name of packages) {
      for (const was of before.catalog.packages.get(name)?.channels.values() ?? []) {
        const channel = channelIn(after, name, was.name);
        const head = channel && mislabeledHead(before, was);
        if (!head) continue;
        const { bundle, version, written } = head;
        const place = { package: name, channel: was.name };
        const { arrives } = after.foresight.v0(place, { name: bundle.name, version });
        // A way that both versions lack is reported as such.
        if (arrives || !after.foresight.v0(place, bundle).arrives) continue;
        const message = `under OLM v0 ${shortName(bundle)} can no longer reach the head of ${channelText(was.name, name)}: its ClusterServiceVersion has version ${written}, which no skipRange on the way covers`;
        report(message, placeOfHead(channel), {
          ...place,
          installed: [shortName(bundle)],
          hint: `let the next entry replace ${bundle.name}`,
        });
      }
    }
  },
};

interface MislabeledHead {
  readonly bundle: Bundle;
  readonly written: string;
  readonly version: Version;
}

/** The head of a channel, if its ClusterServiceVersion has another version than the catalog. */
function mislabeledHead(world: World, channel: Channel): MislabeledHead | undefined {
  const head = headOf(channel);
  const bundle = head && world.catalog.packages.get(channel.package)?.bundles.get(head.name);
  const written = (bundle && world.manifests(bundle).csv?.version) ?? '';
  const version = tryParseVersion(written);
  return bundle && version && !isSameVersion(bundle.version, version)
    ? { bundle, written, version }
    : undefined;
}
