/** What each catalog and package waits for in its release rings: one HTML file without scripts. */
import { appendToGroup } from '../../../catalog/go/grouped.ts';
import { escapeXml } from '../../text.ts';
import { staticPage } from './static-page.ts';

/** A catalog's rings when they were last looked at. Times are in ISO 8601. */
export interface RingsOnPage {
  readonly catalog: string;
  readonly clock: string;
  readonly rings: readonly {
    readonly ring: string;
    readonly tag: string;
    readonly image?: { readonly commit: string; readonly digest: string } | undefined;
  }[];
  /** The newest image of each ring first. */
  readonly waits: readonly {
    readonly ring: string;
    readonly commit: string;
    readonly at: string;
    readonly opens: string;
    readonly why: readonly string[];
    readonly packages: readonly string[];
  }[];
  readonly holds: readonly Said[];
  /** The newest last. */
  readonly events: readonly (Said & { readonly what: string; readonly ring?: string })[];
}

interface Said {
  readonly at: string;
  readonly by: string;
  readonly why: string;
  readonly commit?: string;
  readonly bundle?: string;
}

/** Events that are shown of a catalog. */
const MOST_EVENTS = 10;

const OWN_STYLE = [
  'main{max-width:72rem;margin:0 auto}main,header{overflow-wrap:anywhere}header{display:block;padding:.6rem max(1.2rem,calc((100vw - 72rem)/2 + 1.2rem))}header p{margin:0;color:var(--dim)}',
  'h2{margin:2rem 0 .4rem;font-size:1.3rem;line-height:1.25}h3{margin:1rem 0 .2rem;font-size:1rem}',
  '.rings{display:flex;flex-wrap:wrap;gap:.6rem;margin:.6rem 0;padding:0;list-style:none}.rings li{border:1px solid var(--edge);border-radius:8px;padding:.4rem .8rem;background:var(--box)}.rings b{display:block}',
  '.held{border-left:4px solid var(--gone);padding:.1rem .8rem;margin:.5rem 0}',
  'table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--edge)}td{overflow-wrap:anywhere}.time{white-space:nowrap}td ul{margin:0;padding-left:1.1rem}',
  // On a phone the cells of a row stand below each other, each with its name.
  '@media(max-width:46rem){main{padding:.6rem}header{padding:.6rem}thead{position:absolute;clip-path:inset(50%);height:1px;width:1px;overflow:hidden}table,tbody,tr,td{display:block}td{border:0;padding:0}td::before{content:attr(data-name) " ";color:var(--dim)}tr{padding:.5rem 0;border-bottom:1px solid var(--edge)}.rings{flex-direction:column}}',
].join('\n');

/** The page of all release rings as HTML. */
export function ringsPage(all: readonly RingsOnPage[]): string {
  const waiting = all.filter(({ waits }) => waits.length > 0).length;
  const lastLook = all
    .map(({ clock }) => clock)
    .sort()
    .at(-1);
  const headline =
    all.length === 0
      ? 'No catalog has rings.'
      : `Waiting: ${waiting} of ${all.length} catalogs. Last look: ${timeText(lastLook ?? '')}.`;
  return staticPage({
    title: 'Release rings',
    about: escapeXml(headline),
    style: OWN_STYLE,
    parts: [...all.map(catalogPart), packagesPart(all)],
  });
}

/** The rings of one catalog: what they have, what waits, and what happened. */
function catalogPart(catalog: RingsOnPage): string {
  const rings = catalog.rings
    .map(
      ({ tag, image }) =>
        `<li><b>${escapeXml(tag)}</b>${image ? `commit <code>${escapeXml(image.commit.slice(0, 12))}</code>` : 'nothing yet'}</li>`,
    )
    .join('');
  const holds = catalog.holds
    .map((hold) => `<p class="held">Held${aboutText(hold)} by ${saidText(hold)}</p>`)
    .join('\n');
  const rows = catalog.waits.map(
    ({ ring, commit, at, opens, why, packages }) =>
      [
        ['Image', `<code>${escapeXml(commit.slice(0, 12))}</code>`, 'time'],
        ['For', escapeXml(tagOf(catalog, ring))],
        ['Since', timeText(at), 'time'],
        ['Opens', timeText(opens), 'time'],
        ['Waits because', listText(why)],
        ['Packages', escapeXml(packages.length === 0 ? 'none differ' : packages.join(', '))],
      ] satisfies Cell[],
  );
  const waits = rows.length === 0 ? '<p>Nothing waits.</p>' : table(rows);
  const events = catalog.events.slice(-MOST_EVENTS).reverse();
  const history = events.map(
    (event) =>
      [
        ['When', timeText(event.at), 'time'],
        [
          'What',
          escapeXml(`${event.what}${event.ring === undefined ? '' : ` ${tagOf(catalog, event.ring)}`}`) +
            aboutText(event),
        ],
        ['Who', escapeXml(event.by)],
        ['Why', escapeXml(event.why)],
      ] satisfies Cell[],
  );
  return `<section><h2>${escapeXml(catalog.catalog)}</h2><ul class="rings">${rings}</ul>${holds}
<h3>What waits</h3>${waits}${history.length === 0 ? '' : `\n<h3>What happened</h3>${table(history)}`}</section>`;
}

/** What each package waits for, over all catalogs. */
function packagesPart(all: readonly RingsOnPage[]): string {
  const byPackage = new Map<string, string[]>();
  for (const catalog of all) {
    for (const { ring, packages, why } of catalog.waits) {
      const text = `<b>${escapeXml(tagOf(catalog, ring))}</b>: ${why.map(escapeXml).join('; ')}`;
      for (const name of packages) appendToGroup(byPackage, name, text);
    }
  }
  if (byPackage.size === 0) return '';
  const rows = [...byPackage]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, texts]): Cell[] => [
      ['Package', escapeXml(name)],
      ['Waits for', `<ul>${texts.map((text) => `<li>${text}</li>`).join('')}</ul>`],
    ]);
  return `<section><h2>By package</h2>${table(rows)}</section>`;
}

/** The column's name, the cell as HTML, and a class. */
type Cell = readonly [name: string, html: string, style?: string];

function table(rows: readonly (readonly Cell[])[]): string {
  const head = rows[0]?.map(([name]) => `<th scope="col">${name}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map(cellText).join('')}</tr>`).join('\n');
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

/** A cell. It names its column, too: on a phone the cells stand below each other. */
function cellText([name, html, style]: Cell): string {
  return `<td data-name="${name}"${style === undefined ? '' : ` class="${style}"`}>${html}</td>`;
}

function listText(texts: readonly string[]): string {
  return texts.map(escapeXml).join('<br>');
}

/** What somebody held or decided about: a commit, a bundle, or both; '' for the catalog as a whole. */
function aboutText({ commit, bundle }: Pick<Said, 'commit' | 'bundle'>): string {
  return escapeXml([commit?.slice(0, 12), bundle].flatMap((one) => (one ? [` ${one}`] : [])).join(''));
}

function saidText({ by, at, why }: Said): string {
  return `${escapeXml(by)} since ${timeText(at)}: ${escapeXml(why)}`;
}

/** The tag of a ring by the ring's name; the name itself for a ring that no longer exists. */
function tagOf({ rings }: RingsOnPage, place: string): string {
  return rings.find(({ ring }) => ring === place)?.tag ?? place;
}

/** `2027-01-31 12:00 UTC`. */
function timeText(time: string): string {
  return escapeXml(`${time.slice(0, 10)} ${time.slice(11, 16)} UTC`);
}
