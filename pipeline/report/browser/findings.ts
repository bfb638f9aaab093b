/** Findings, grouped so that people can act on them. */

import type { Finding } from '../../../catalog/finding.ts';
import { groupedBy } from '../../../catalog/go/grouped.ts';
import { el } from './elements.ts';

/** The page of a rule; undefined where it has none. */
type RulePages = (rule: string) => string | undefined;

/** The id of a rule, as a link to its page where it has one. */
function ruleLink(rule: string, pages: RulePages): HTMLElement {
  const page = pages(rule);
  const id = el('code', {}, [rule]);
  return page === undefined ? id : el('a', { href: page, target: '_blank', rel: 'noopener' }, [id]);
}

/** One row for each rule, with the packages that it names. */
export function overview(findings: readonly Finding[], pages: RulePages): HTMLElement {
  const rules = new Map<string, { finding: Finding; packages: Set<string> }>();
  for (const finding of findings) {
    const key = `${finding.severity} ${finding.rule}`;
    const entry = rules.get(key) ?? { finding, packages: new Set<string>() };
    entry.packages.add(finding.package ?? 'the catalog');
    rules.set(key, entry);
  }
  const rows = [...rules.values()].map(({ finding: { severity, rule }, packages }) =>
    el('tr', { class: severity }, [
      el('td', {}, [el('strong', {}, [severity.toUpperCase()])]),
      el('td', {}, [ruleLink(rule, pages)]),
      el('td', {}, [`${packages.size}`]),
      el('td', {}, [[...packages].slice(0, NAMED).join(', ') + (packages.size > NAMED ? ' …' : '')]),
    ]),
  );
  const names = ['Severity', 'Rule', 'Packages', 'Names'].map((name) => el('th', { scope: 'col' }, [name]));
  const head = el('thead', {}, [el('tr', {}, names)]);
  return el('table', { class: 'overview' }, [head, el('tbody', {}, rows)]);
}

/** Packages that are named in a row of the overview. */
const NAMED = 5;

/** Findings of one severity, package and rule together; the groups stand in the order of their first findings. */
export function groupsOf(findings: readonly Finding[]): Finding[][] {
  const keyOf = (finding: Finding): string =>
    JSON.stringify([finding.severity, finding.package, finding.rule]);
  return [...groupedBy(findings, keyOf).values()];
}

/** A group of findings: the first, and the others folded below it. */
export function groupItem(
  [first, ...others]: readonly Finding[],
  itemOf: (finding: Finding) => HTMLElement,
): HTMLElement {
  const item = first ? itemOf(first) : el('p', {}, []);
  if (others.length > 0) {
    const title = el('summary', {}, [`${others.length} more of this rule`]);
    item.append(el('details', {}, [title, ...others.map(itemOf)]));
  }
  return item;
}

/** One finding. @param parts what stands before the rule, and its place */
export function findingArticle(
  { severity, rule, message, hint }: Finding,
  parts: {
    readonly about: readonly (Node | string)[];
    readonly where: readonly (Node | string)[];
    readonly pages: RulePages;
  },
): HTMLElement {
  return el('article', { class: `finding ${severity}` }, [
    el('p', {}, [
      el('strong', {}, [severity.toUpperCase()]),
      ' ',
      ...parts.about,
      ruleLink(rule, parts.pages),
    ]),
    el('p', {}, [message]),
    ...(hint === undefined ? [] : [el('p', {}, ['Fix: ', el('code', {}, [hint])])]),
    el('p', { class: 'where' }, parts.where),
  ]);
}
