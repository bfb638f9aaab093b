import { headsOf } from '../../fbc/channel.ts';
import { type Bundle, locate, type Package } from '../../fbc/model.ts';
import { onceFor } from '../../go/once.ts';
import type { Change, World } from '../../olm/foresight/world.ts';
import { installSet, missingRequirements, type SetMember } from '../../olm/install-set.ts';
import type { PublishedMember } from '../../olm/published-set.ts';
import { resolveExtension, unsupportedProperty } from '../../olm/resolve/extension.ts';
import { gatedSupport } from '../../olm/resolve/support.ts';
import { placeOfPackage } from '../finding-location.ts';
import { listed } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/install-set-broken',
  severity: 'error',
  summary:
    'Reports changes after which a package and its dependencies, or a published set, can no longer be installed together',
  compare(change, report) {
    for (const { member, file, why } of brokenMembers(change)) {
      const place = placeOfPackage(change.after, member.package) ?? member.location;
      report(`the set ${file} can no longer be installed under OLM v1: ${why}`, place, {
        package: member.package,
        subject: file,
        hint: `keep what ${file} asks for, or change the set in the same pull request`,
      });
    }
    for (const ofPackage of change.after.catalog.packages.values()) {
      const was = change.before.catalog.packages.get(ofPackage.name);
      for (const { name: channel, head } of requiringHeads(ofPackage)) {
        if (!was?.channels.has(channel) || !was.bundles.has(head.name)) continue;
        const before = membersOf(change.before, head, channel);
        // A set that could not be installed before is not worse, and a set without the changed packages stays the same.
        if (!before?.some(({ bundle }) => change.packages.includes(bundle.package))) continue;
        const after = installSet(change.after.foresight.scope, wantedIn(change.after, head, channel));
        // Another rule reports requirements that no catalog meets.
        if (!('why' in after) || missingRequirements(change.after.foresight.scope, [head]).length > 0)
          continue;
        const others = before.flatMap(({ bundle }) => (bundle.name === head.name ? [] : [bundle.name]));
        // Other rules report a package that needs no other one.
        if (others.length === 0) continue;
        const message = `${head.name}, the head of channel ${quoted(channel)} of package ${quoted(head.package)}, could be installed together with ${listed(others)}, and has no such set any more: ${after.why}`;
        report(message, locate(head, 'properties'), {
          package: head.package,
          channel,
          hint: `keep versions that can be installed together in the catalog: ${listed(others)}`,
        });
      }
    }
  },
};

/** Heads of channels that require something. */
const requiringHeads = onceFor(
  ({ channels, bundles }: Package): { readonly name: string; readonly head: Bundle }[] =>
    [...channels.values()].flatMap((channel) =>
      headsOf(channel).flatMap((entry) => {
        const head = bundles.get(entry.name);
        return head && unsupportedProperty(head) !== undefined ? [{ name: channel.name, head }] : [];
      }),
    ),
);

function wantedIn({ name }: World, head: Bundle, channel: string) {
  return { package: head.package, channel, catalog: name, bundle: head.name };
}

/** The set before; undefined where there was none. */
function membersOf(world: World, head: Bundle, channel: string): readonly SetMember[] | undefined {
  const found = installSet(world.foresight.scope, wantedIn(world, head, channel));
  return 'members' in found ? found.members : undefined;
}

interface BrokenMember {
  readonly file: string;
  readonly member: PublishedMember;
  readonly why: string;
}

/** Members of published sets that OLM v1 installed before a change, and refuses after it. */
function brokenMembers({ before, after, packages }: Change): BrokenMember[] {
  if (!after.olm.has('v1')) return [];
  return after.installSets.flatMap(({ file, members }) => {
    const former = before.installSets.find((set) => set.file === file)?.members ?? [];
    return members.flatMap((member): BrokenMember[] => {
      const was = former.find((one) => one.package === member.package);
      if (!packages.includes(member.package) || !was || whyRefused(before, was) !== undefined) return [];
      const why = whyRefused(after, member);
      return why === undefined ? [] : [{ file, member, why }];
    });
  });
}

/** Why OLM v1 installs nothing for a member, with every feature gate on; undefined if it does. */
function whyRefused({ foresight, catalog }: World, member: PublishedMember): string | undefined {
  const asked = { ...member, policy: 'CatalogProvided', installed: undefined } as const;
  // A member of another catalog is refused here before and after the change alike, so nothing is said of it.
  const { outcome } = resolveExtension({ catalogs: [foresight.source] }, asked);
  if (outcome.kind !== 'upgrade') return outcome.reason.text;
  const bundle = catalog.packages.get(member.package)?.bundles.get(outcome.to.name);
  const [obstacle] = bundle ? gatedSupport(bundle).obstacles : [];
  return obstacle && `${outcome.to.name}: ${obstacle}`;
}
