/**
 * What the page does in a browser. It is bundled into `page/script.ts` by `npm run generate`,
 * and must import nothing that needs Node. Texts of catalogs only ever become text nodes,
 * but for the picture, which escapes them itself.
 */
import type { Finding } from '../../../catalog/finding.ts';
import { parseJson } from '../../../catalog/json.ts';
import type { CatalogGraph, PackageGraph } from '../../../catalog/olm/graph/graph-document.ts';
import { amountText } from '../../text.ts';
import { catalogsText } from '../catalogs-text.ts';
import type { PageData } from '../page/page-data.ts';
import { button, el, elementOf, option, turnTheme } from './elements.ts';
import { findingArticle, groupItem, groupsOf, overview } from './findings.ts';
import { fleetView, packageFleetView } from './fleet-view.ts';
import { packageView } from './package-view.ts';

const data = parseJson(document.getElementById('data')?.textContent ?? '{}') as PageData;
const order = data.graph.catalogs.map(({ name }) => name);
const search = elementOf('search', HTMLInputElement);
const catalogs = elementOf('catalog', HTMLSelectElement);
const list = elementOf('packages', HTMLElement);
const main = elementOf('main', HTMLElement);

/** Fills the controls and listens to them. */
function begin(): void {
  catalogs.append(...order.map((name) => option(name)));
  search.addEventListener('input', showList);
  catalogs.addEventListener('change', () => go(catalogs.value, here()?.graph.package));
  elementOf('theme', HTMLButtonElement).addEventListener('click', turnTheme);
  window.addEventListener('hashchange', show);
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    search.focus();
  });
  show();
}

/** Where the address says that we are: a catalog and a package of it. */
function here(): { catalog: CatalogGraph; graph: PackageGraph } | undefined {
  const [name = '', packageName = ''] = location.hash.slice(1).split('/').map(decodeURIComponent);
  const catalog = data.graph.catalogs.find((one) => one.name === name);
  const graph = catalog?.packages.find((one) => one.package === packageName);
  return catalog && graph ? { catalog, graph } : undefined;
}

/**
 * Changes the address to a package of a catalog, or to its first package if it lacks that one. The page
 * follows the address.
 */
function go(catalog: string, packageName: string | undefined): void {
  const found = data.graph.catalogs.find(({ name }) => name === catalog);
  const target = found?.packages.find((one) => one.package === packageName) ?? found?.packages[0];
  location.hash = target ? `${encodeURIComponent(catalog)}/${encodeURIComponent(target.package)}` : '';
}

/** Shows the package that the address names, or the findings. */
function show(): void {
  const at = here();
  if (at) catalogs.value = at.catalog.name;
  showList();
  const [first] = data.graph.catalogs;
  if (at)
    main.replaceChildren(
      ...packageView(at.graph, at.catalog.name),
      ...clustersOf(at.graph.package),
      ...findingsAbout(at),
    );
  else if (data.findings.length > 0) main.replaceChildren(...findingsView(data.findings));
  else if (first?.packages.length) go(first.name, undefined);
  else main.replaceChildren(el('p', {}, ['The catalog has no packages.']));
}

/** The clusters of the fleet that have a package, whatever catalog they use. */
function clustersOf(packageName: string): Node[] {
  const found = data.fleet?.packages.find((one) => one.package === packageName);
  return found ? packageFleetView(found) : [];
}

/** Shows the packages that match the search. */
function showList(): void {
  const searchText = search.value.trim().toLowerCase();
  const catalog = data.graph.catalogs.find(({ name }) => name === catalogs.value);
  const matching = (catalog?.packages ?? []).filter((graph) => matches(graph, searchText));
  const now = here()?.graph.package;
  const items = matching.map((graph) => {
    const stuck = stuckCount(graph);
    const link = el(
      'a',
      { href: `#${encodeURIComponent(catalogs.value)}/${encodeURIComponent(graph.package)}` },
      [graph.package, ...(stuck > 0 ? [el('span', { class: 'badge' }, [`${stuck} stuck`])] : [])],
    );
    if (graph.package === now) link.setAttribute('aria-current', 'page');
    return el('li', {}, [link]);
  });
  const overview =
    data.findings.length > 0
      ? [el('li', {}, [el('a', { href: '#' }, [`Findings (${data.findings.length})`])])]
      : [];
  list.replaceChildren(...overview, ...items);
  elementOf('count', HTMLElement).textContent = amountText(matching.length, 'package');
}

/** Whether a package, one of its versions or one of its channels contains the text of the search. */
function matches({ package: name, bundles, lanes }: PackageGraph, searchText: string): boolean {
  const words = [
    name,
    ...bundles.flatMap((bundle) => [bundle.name, bundle.version]),
    ...lanes.map(({ channel }) => channel),
  ];
  return words.some((word) => word.toLowerCase().includes(searchText));
}

/** The findings of a package that concern the catalog; a finding without catalogs concerns all. */
function findingsAbout({ catalog, graph }: { catalog: CatalogGraph; graph: PackageGraph }): Node[] {
  const found = data.findings.filter(
    (finding) => finding.package === graph.package && finding.catalogs?.includes(catalog.name) !== false,
  );
  return found.length > 0 ? [el('h3', {}, ['Findings']), ...found.map(findingItem)] : [];
}

/** How many installations have no upgrade path to a head. */
function stuckCount({ lanes }: PackageGraph): number {
  return lanes.reduce((sum, { stops }) => sum + stops.filter(({ stuck }) => stuck.length > 0).length, 0);
}

/** The page of all findings. */
function findingsView(findings: readonly Finding[]): Node[] {
  const all = el('div', {}, []);
  const show = (withInfos: boolean): void => {
    const shown = findings.filter(({ severity }) => withInfos || severity !== 'info');
    all.replaceChildren(
      overview(shown, pageOf),
      ...groupsOf(shown).map((group) => groupItem(group, findingItem)),
    );
  };
  const infos = findings.filter(({ severity }) => severity === 'info').length;
  show(false);
  return [
    el('h2', {}, ['Findings']),
    el('p', {}, [data.headline]),
    ...data.asked.map((line) => el('p', { class: 'asked' }, [line])),
    ...(data.fleet ? fleetView(data.fleet) : []),
    ...(infos > 0 ? [button(`Show ${amountText(infos, 'informational finding')}`, () => show(true))] : []),
    all,
    el('h2', {}, ['Catalogs']),
    ...data.summary.map((line) => el('p', {}, [line])),
  ];
}

/** A finding with a link to its package. */
function findingItem(finding: Finding): HTMLElement {
  const { location: place, catalogs: names = [], package: packageName } = finding;
  const [first] = names;
  const about =
    packageName !== undefined && first !== undefined
      ? [
          el('a', { href: `#${encodeURIComponent(first)}/${encodeURIComponent(packageName)}` }, [
            packageName,
          ]),
          ' ',
        ]
      : [];
  return findingArticle(finding, {
    about,
    where: [`${place.file}:${place.line} (${catalogsText(names, order)})`],
    pages: pageOf,
  });
}

function pageOf(rule: string): string | undefined {
  return data.rulePages?.[rule];
}

begin();
