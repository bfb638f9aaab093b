import { quoted, shellWord } from '../../names.ts';
import { formatReference, withDigest } from '../../reference.ts';
import { lookupKey, runsFor } from '../../references/site.ts';
import { lockedTags, sitesWithLookups, siteText } from '../registry-answers.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'image/bundle-list',
    severity: 'error',
    isOptional: true,
    summary:
      'Reports images of bundles that are manifest lists: Conforma refuses bundles for several platforms',
    opm: ['The B bundle image is a multi-arch reference.'],
    resolved: (references, report) => {
      for (const { site, lookup } of sitesWithLookups(references)) {
        if (site.kind !== 'bundle' || lookup.kind !== 'found' || !lookup.isList) continue;
        report(`${siteText(site)} is a manifest list, which a bundle must not be`, site.location, {
          package: site.package,
          hint: 'build the bundle for one platform, and reference that image',
        });
      }
    },
  },
  {
    id: 'image/checked',
    severity: 'error',
    summary:
      'Reports images that have not passed the external checks that the policy requires, as signed statements say',
    resolved: (references, report) => {
      for (const { site, lookup } of sitesWithLookups(references)) {
        if (lookup.kind !== 'found') continue;
        for (const check of lookup.checks ?? []) {
          const details = { package: site.package, subject: `${check.name} ${site.written}` };
          if (check.kind === 'passed') {
            const message = `${siteText(site)} passed the check ${quoted(check.name)}, says ${check.by}`;
            report(message, site.location, { ...details, severity: 'info' });
          } else {
            const message = `${siteText(site)} has not passed the check ${quoted(check.name)}: ${check.why}`;
            const hint = `see its statements with portolan verify ${shellWord(site.written)} --key FILE (policy: registries.attestations)`;
            report(message, site.location, { ...details, hint });
          }
        }
      }
    },
  },
  {
    id: 'image/digest-missing',
    severity: 'error',
    summary: 'Reports images with a digest that does not exist in their registry',
    resolved: (references, report) => {
      for (const { site, lookup } of sitesWithLookups(references)) {
        if (site.reference.kind !== 'digest' || lookup.kind !== 'absent') continue;
        report(`${siteText(site)} does not exist: the registry does not have this digest`, site.location, {
          package: site.package,
          hint: 'push the image again, or reference an existing one; registries delete images without a tag',
        });
      }
    },
  },
  {
    id: 'image/digest',
    severity: 'info',
    summary:
      'Reports images that are not referenced by digest, so that clusters may get another one than was checked',
    resolved: (references, report) => {
      for (const { site, lookup } of sitesWithLookups(references)) {
        if (site.reference.kind !== 'tag' || lookup.kind !== 'found') continue;
        const pinned = formatReference(withDigest(site.reference, lookup.digest));
        report(`${siteText(site)} is a tag, which may point to another image later`, site.location, {
          package: site.package,
          hint: pinned,
          correction: { kind: 'replace', location: site.location, found: site.written, wanted: pinned },
        });
      }
    },
  },
  {
    id: 'image/platforms',
    severity: 'warning',
    summary:
      "Reports related images of a default channel's head that lack a platform in its labels operatorframework.io/arch.* and os.*",
    resolved: (references, report) => {
      const { supports } = references;
      if (!supports) return;
      for (const { site, lookup } of sitesWithLookups(references)) {
        if (lookup.kind !== 'found' || !lookup.platforms || !runsFor(site, supports)) continue;
        const { platforms } = lookup;
        const missing = supports.get(site.package)?.platforms.filter((one) => !platforms.includes(one)) ?? [];
        if (missing.length === 0) continue;
        const isFor = platforms.length === 0 ? 'no platform' : platforms.join(', ');
        const message = `${siteText(site)} supports ${isFor}, but not ${missing.join(', ')}, which package ${quoted(site.package)} declares as supported`;
        report(message, site.location, {
          package: site.package,
          hint: 'reference a manifest list with all platforms, or remove the labels from the ClusterServiceVersion',
        });
      }
    },
  },
  {
    id: 'image/registry',
    severity: 'error',
    summary: 'Reports images from registries that the policy does not allow',
    resolved: (references, report) => {
      for (const { site, lookup } of sitesWithLookups(references)) {
        if (lookup.kind !== 'not-allowed') continue;
        report(`${siteText(site)} is in a registry that the policy does not allow`, site.location, {
          package: site.package,
          hint: `registries: {allow: [${site.reference.registry}]}`,
        });
      }
    },
  },
  {
    id: 'image/signed',
    severity: 'error',
    summary: 'Reports images that are not signed as the policy requires',
    resolved: (references, report) => {
      for (const { site, lookup } of sitesWithLookups(references)) {
        if (lookup.kind !== 'found' || lookup.unsigned === undefined) continue;
        report(
          `${siteText(site)} lacks the signature that the policy requires: ${lookup.unsigned}`,
          site.location,
          {
            package: site.package,
            hint: `see its signatures with portolan verify ${shellWord(site.written)} --key FILE, or with --identity and --issuer (policy: registries.signatures)`,
          },
        );
      }
    },
  },
  {
    id: 'image/tag-missing',
    severity: 'error',
    summary: 'Reports tags in bundles and templates that do not exist in their registry',
    resolved: (references, report) => {
      for (const { site, lookup } of sitesWithLookups(references)) {
        if (site.reference.kind !== 'tag' || lookup.kind !== 'absent') continue;
        report(`${siteText(site)} does not exist: the registry does not have this tag`, site.location, {
          package: site.package,
          hint: 'push the image, or reference an existing tag',
        });
      }
    },
  },
  {
    id: 'image/tag-moved',
    severity: 'warning',
    summary: 'Reports tags that do not point to the locked digest',
    resolved: (references, report) => {
      const { lock, lookups } = references;
      if (!lock) return;
      for (const { site, lookup } of sitesWithLookups(references)) {
        const { reference } = site;
        if (reference.kind !== 'tag' || lookup.kind !== 'found') continue;
        const locked = lock.digests.get(lookupKey(reference));
        if (locked === undefined || locked === lookup.digest) continue;
        report(`${siteText(site)} has moved: it was ${locked}, it is ${lookup.digest} now`, site.location, {
          package: site.package,
          hint: 'run portolan resolve DIR --lock FILE --update to use the new image, or reference the locked digest',
        });
      }
      // A pinned image stays the same, but people should know that its tag has moved on.
      for (const { site, tag } of lockedTags(references)) {
        const lookup = lookups.get(tag);
        if (lookup?.kind !== 'found' || lookup.digest === lock.digests.get(tag)) continue;
        report(`${siteText(site)} was pinned from ${tag}, which is ${lookup.digest} now`, site.location, {
          package: site.package,
          severity: 'info',
          hint: 'run portolan resolve DIR --lock FILE --update --write to use the new image',
        });
      }
    },
  },
];
