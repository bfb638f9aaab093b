import { locate } from '../../fbc/model.ts';
import { checkedPackages, type Olm, type World } from '../../olm/foresight/world.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { type Reached, reachedBundles } from '../reached-bundles.ts';
import { quoted, type Rule } from '../rule.ts';

/**
 * Both generations of OLM refuse the installation itself, long after the bundle was accepted by the catalog.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/install/webhook.go `createOrUpdateConversionWebhook`
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/rukpak/render/registryv1/validators/validator.go `CheckConversionWebhookSupport`
 */
export const rule: Rule = {
  id: 'graph/conversion-modes',
  severity: 'error',
  summary:
    'Reports bundles that have a conversion webhook and support install modes other than AllNamespaces',
  reads: ['manifests'],
  foresee(world, report) {
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
};

interface Refusal {
  readonly webhooks: readonly string[];
  /** The install modes that the bundle supports. */
  readonly modes: readonly string[];
  readonly olm: readonly Olm[];
}

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
