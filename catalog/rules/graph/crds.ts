import { locate } from '../../fbc/model.ts';
import { hasOlmV1 } from '../../fbc/platform.ts';
import { sameValue } from '../../fbc/same-bundle.ts';
import { groupedBy } from '../../go/grouped.ts';
import { parseJson } from '../../json.ts';
import { type Change, checkedPackages, type Olm, type World } from '../../olm/foresight/world.ts';
import { gvkText, offerOf } from '../../olm/resolve/requirement.ts';
import { offerOfBundle } from '../../olm/resolve/snapshot.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { type NewUpgrade, reportUpgrades, type Side } from '../new-upgrades.ts';
import { type Reached, reachedBundles } from '../reached-bundles.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  /**
   * OLM v1 applies a bundle as one release: what the new version lacks is deleted, a CRD with all of its
   * objects. OLM v0 leaves CRDs and objects behind, which nothing updates any more.
   *
   * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/applier/provider.go
   */
  {
    id: 'graph/crd-dropped',
    severity: 'error',
    summary:
      'Reports upgrades that drop CRDs or API services that the previous version owned, stop serving versions of CRDs, or no longer convert them',
    reads: ['catalogs', 'history', 'manifests'],
    compare(change, report) {
      reportDropped(change, report);
      for (const loss of LOSSES) reportLoss(change, report, loss);
    },
  },
  /**
   * Both generations of OLM refuse the installation itself, long after the bundle was accepted by the catalog.
   *
   * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/install/webhook.go `createOrUpdateConversionWebhook`
   * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/rukpak/render/registryv1/validators/validator.go `CheckConversionWebhookSupport`
   */
  {
    id: 'graph/conversion-modes',
    severity: 'error',
    summary:
      'Reports bundles that have a conversion webhook and support install modes other than AllNamespaces',
    reads: ['manifests'],
    checkWorld(world, report) {
      for (const ofPackage of checkedPackages(world)) {
        const refused = reachedBundles(world, ofPackage).flatMap((reached) => {
          const refusal = refusalOf(world, reached);
          return refusal ? [{ bundle: reached.bundle, ...refusal }] : [];
        });
        const key = ({ olm, webhooks, modes }: Refusal): string => JSON.stringify([olm, webhooks, modes]);
        for (const group of grouped(refused, key)) {
          const [refusal] = group;
          if (!refusal) continue;
          const versions = versionsOf(group.map(({ bundle }) => bundle));
          const message = `OLM ${refusal.olm.join(' and ')} cannot install ${listed(versions)} of package ${quoted(ofPackage.name)}: with the conversion webhook ${listed(refusal.webhooks.map(quoted))} AllNamespaces must be the only supported install mode, found ${listed(refusal.modes) || 'none'}`;
          report(message, locate(refusal.bundle, 'properties'), {
            package: ofPackage.name,
            installed: versions,
            hint: 'publish a bundle that supports only AllNamespaces, or one without the conversion webhook',
          });
        }
      }
    },
  },
];

/** Reports upgrades that drop owned CRDs. How bad that is depends on which OLM clusters of the platform have. */
function reportDropped(change: Change, report: Report): void {
  const hasV1 = hasOlmV1(change.after.platform ?? LATEST);
  const lossOf = (upgrade: NewUpgrade): Loss | undefined => {
    const loss = newlyLost(upgrade, droppedOn);
    // Without OLM v1 on the platform, only what OLM v0 loses counts.
    return hasV1 || loss?.olm.includes('v0') ? loss : undefined;
  };
  reportUpgrades(change, report, lossOf, ({ lost, olm: all }, { text, isOne, to }) => {
    const olm = hasV1 ? all : (['v0'] as const);
    return {
      message: `${text} ${isOne ? 'removes' : 'remove'} ${lost.length === 1 ? 'an owned CRD' : 'owned CRDs'}, ${listed(lost)}: ${effectOf(olm, lost.length)}`,
      severity: olm.includes('v1') ? 'error' : 'warning',
      hint: `keep the CRD in ${to} until its objects are migrated`,
    };
  });
}

/** What an upgrade may take from a CRD that it keeps. */
interface KeptCrdLoss {
  readonly lostOn: LostOn;
  readonly severity: 'error' | 'warning';
  readonly says: (lost: readonly string[], isOne: boolean) => string;
  readonly advice: (bundle: string) => string;
}

const LOSSES: readonly KeptCrdLoss[] = [
  // No OLM refuses such an upgrade, and no object is lost; but who uses the version gets errors from then on.
  {
    lostOn: unservedOn,
    severity: 'warning',
    says: (lost, isOne) =>
      `${isOne ? 'stops' : 'stop'} serving ${listed(lost)}: requests for ${lost.length === 1 ? 'it' : 'them'} fail`,
    advice: (bundle) => `serve it in ${bundle} until nothing uses it`,
  },
  {
    lostOn: unservedApisOn,
    severity: 'warning',
    says: (lost, isOne) =>
      `${isOne ? 'drops' : 'drop'} the API ${lost.length === 1 ? 'service' : 'services'} ${listed(lost)}: OLM v0 removes ${lost.length === 1 ? 'it' : 'them'}, and requests fail`,
    advice: (bundle) => `serve the API in ${bundle} until nothing uses it`,
  },
  // opm renders properties of every bundle: a blob without any was written by hand, and says nothing of its CRDs.
  {
    lostOn: unlistedOn,
    severity: 'warning',
    says: (lost) =>
      `may drop ${listed(lost)}: the blob of the new bundle has no properties that say what it keeps`,
    advice: (bundle) => `render ${bundle} from its image`,
  },
  // What a bundle provides is what its ClusterServiceVersion lists: its CRD may have more.
  {
    lostOn: replacedOn,
    severity: 'warning',
    says: (lost, isOne) =>
      `no longer ${isOne ? 'provides' : 'provide'} ${listed(lost)}, and the catalog does not contain the CRD: if that lacks the version too, clusters with objects refuse the upgrade`,
    advice: (bundle) => `keep the former version beside the new one in ${bundle} until objects are migrated`,
  },
  {
    lostOn: unconvertedOn,
    severity: 'error',
    says: (lost, isOne) =>
      `${isOne ? 'drops' : 'drop'} the conversion webhook of ${listed(lost)}, whose versions differ: what is read or written in another version than it is stored in loses fields`,
    advice: (bundle) => `keep the conversion webhook in ${bundle}, or give all versions one schema`,
  },
];

/** Reports new upgrades by which clusters lose what a row of the table above looks for. */
function reportLoss(change: Change, report: Report, { lostOn, severity, says, advice }: KeptCrdLoss): void {
  const lossOf = (upgrade: NewUpgrade): Loss | undefined => newlyLost(upgrade, lostOn);
  reportUpgrades(change, report, lossOf, ({ lost }, { text, isOne, to }) => ({
    message: `${text} ${says(lost, isOne)}`,
    subject: JSON.stringify(lost),
    severity,
    hint: advice(to),
  }));
}

interface Loss {
  readonly lost: readonly string[];
  /** The generations of OLM under which that is new. */
  readonly olm: readonly Olm[];
}

type Between = Pick<NewUpgrade, 'from' | 'to'>;

type LostOn = (between: Between) => readonly string[];

/** What an upgrade takes away, except what the same clusters also lost on their path before the change. */
function newlyLost({ from, to, former }: NewUpgrade, lostOn: LostOn): Loss | undefined {
  const all = lostOn({ from, to });
  if (all.length === 0) return undefined;
  const losses = former.map(({ olm, path }) => {
    // The first bundle of a path is compared with itself, so nothing is lost by it.
    const lostBefore = new Set(
      path().flatMap((side, i, sides) => lostOn({ from: sides[i - 1] ?? side, to: side })),
    );
    return { olm, lost: all.filter((one) => !lostBefore.has(one)) };
  });
  const lost = all.filter((one) => losses.some((loss) => loss.lost.includes(one)));
  const olm = losses.flatMap((loss) => (loss.lost.length > 0 ? [loss.olm] : []));
  return lost.length > 0 ? { lost, olm: [...new Set(olm)].sort() } : undefined;
}

/** Clusters of an unknown platform may have OLM v1. */
const LATEST = { major: 4, minor: 20 };

/** What happens to objects of CRDs that an upgrade takes away, under each OLM. */
function effectOf(olm: readonly Olm[], count: number): string {
  const them = count === 1 ? 'it' : 'them';
  const effects = {
    v0: `OLM v0 leaves ${them} without an owner`,
    v1: `OLM v1 deletes ${them} with all objects`,
  };
  // OLM v1 first: what it does is worse.
  return [...olm]
    .reverse()
    .map((generation) => effects[generation])
    .join(', ');
}

/**
 * CRDs that only the old version has, or kinds where names are unknown. One that the new version requires is kept:
 * another operator of the cluster owns it then.
 */
function droppedOn({ from, to }: Between): readonly string[] {
  const [before, after] = [from.manifests.csv, to.manifests.csv];
  if (!before || !after) return droppedKinds(from, to);
  const kept = new Set([
    ...after.ownedCrds,
    ...after.requiredCrds.map(({ name }) => name),
    ...(to.world.crds(to.bundle) ?? []).map(({ name }) => name),
  ]);
  return before.ownedCrds.filter((name) => !kept.has(name)).map(quoted);
}

/** Versions of CRDs that both bundles have. The loss of a version that stores objects is an unsafe change of the CRD. */
function unservedOn({ from, to }: Between): readonly string[] {
  const after = new Map((to.world.crds(to.bundle) ?? []).map((crd) => [crd.name, crd.versions]));
  return (from.world.crds(from.bundle) ?? []).flatMap(({ name, versions, storedVersions }) => {
    // A CRD that is gone is reported as dropped.
    const kept = after.get(name) ?? versions;
    return versions
      .filter((version) => version.served && !kept.some((one) => one.served && one.name === version.name))
      .filter(
        (version) => kept.some((one) => one.name === version.name) || !storedVersions.includes(version.name),
      )
      .map((version) => `${version.name} of ${quoted(name)}`);
  });
}

/** The resources of API services that the new version serves neither in this way nor by a CRD. */
function unservedApisOn({ from, to }: Between): readonly string[] {
  const [before, after] = [from.manifests.csv, to.manifests.csv];
  if (!before || !after) return [];
  const isServed = (name: string): boolean =>
    after.ownedApiServices.includes(name) || after.ownedCrds.some((crd) => crd.startsWith(`${name}.`));
  return before.ownedApiServices.filter((name) => !isServed(name)).map(quoted);
}

/** Kinds that both bundles provide in other versions, where the CRDs that would say what is stored are unknown. */
function replacedOn({ from, to }: Between): readonly string[] {
  if (from.world.crds(from.bundle) && to.world.crds(to.bundle)) return [];
  const kept = new Set(offerOfBundle(to.bundle).gvks);
  const { gvks } = offerOfBundle(from.bundle);
  if (gvks.every((gvk) => kept.has(gvk))) return [];
  const had = groupedBy(gvks, withoutVersion);
  const has = new Set([...kept].map(withoutVersion));
  return [...had].flatMap(([kind, all]) =>
    has.has(kind) && !all.some((gvk) => kept.has(gvk)) ? all.map(gvkText) : [],
  );
}

/** CRDs with several versions that a webhook no longer converts into each other. */
function unconvertedOn({ from, to }: Between): readonly string[] {
  const converted = new Set(
    (from.world.crds(from.bundle) ?? []).filter((crd) => crd.convertsByWebhook).map(({ name }) => name),
  );
  return (to.world.crds(to.bundle) ?? [])
    .filter(({ name, versions, convertsByWebhook }) => {
      const [first, ...others] = versions.filter(({ served }) => served);
      // Versions of one schema need no conversion.
      const differ = (): boolean => others.some(({ schema }) => !sameValue(schema, first?.schema));
      return converted.has(name) && !convertsByWebhook && differ();
    })
    .map(({ name }) => quoted(name));
}

/** Kinds of which the bundle no longer provides or requires any version. */
function droppedKinds(from: Side, to: Side): readonly string[] {
  return isUnlisted(to) ? [] : goneKinds(from, to);
}

/** Kinds that a new bundle may only seem to drop, because nobody rendered its properties. */
function unlistedOn({ from, to }: Between): readonly string[] {
  const isKnown = from.manifests.csv && to.manifests.csv;
  return !isKnown && isUnlisted(to) ? goneKinds(from, to) : [];
}

/** Whether a blob has no property but the version. */
function isUnlisted({ bundle }: Side): boolean {
  return bundle.properties.every(({ type }) => type === 'olm.package');
}

/** Kinds of which the new bundle neither provides nor requires any version. */
function goneKinds(from: Side, to: Side): readonly string[] {
  const kept = new Set(offerOfBundle(to.bundle).gvks);
  const gone = offerOfBundle(from.bundle).gvks.filter((gvk) => !kept.has(gvk));
  if (gone.length === 0) return [];
  const after = new Set([...kept, ...requiredBy(to)].map(withoutVersion));
  return gone.filter((gvk) => !after.has(withoutVersion(gvk))).map(gvkText);
}

/** Kinds that a bundle requires, read as those that it provides, so that both have one form. */
function requiredBy({ bundle }: Side): readonly string[] {
  const asked = bundle.properties.filter(({ type }) => type === 'olm.gvk.required');
  return offerOf(
    asked.map(({ value }) => ({ type: 'olm.gvk', value })),
    { package: '', version: undefined },
  ).gvks;
}

/** The group and kind of a key of group, version and kind, as JSON. */
function withoutVersion(gvk: string): string {
  const [group, , kind] = parseJson(gvk) as [string, string, string];
  return JSON.stringify([group, kind]);
}

interface Refusal {
  readonly webhooks: readonly string[];
  /** The install modes that the bundle supports. */
  readonly modes: readonly string[];
  readonly olm: readonly Olm[];
}

/** Why OLM refuses a bundle with conversion webhooks: these need the install mode AllNamespaces alone. */
function refusalOf({ manifests }: World, { bundle, olm }: Reached): Refusal | undefined {
  const { csv } = manifests(bundle);
  const webhooks = (csv?.webhooks ?? [])
    .filter(({ type }) => type === 'ConversionWebhook')
    .map(({ name }) => name);
  const modes = [...(csv?.installModes ?? [])].sort();
  // OLM v0 minds modes beside AllNamespaces, OLM v1 its absence as well.
  const refuses = (generation: Olm): boolean =>
    modes.some((mode) => mode !== 'AllNamespaces') || (generation === 'v1' && modes.length === 0);
  const refusing = [...olm].filter(refuses);
  return webhooks.length === 0 || refusing.length === 0 ? undefined : { webhooks, modes, olm: refusing };
}
