/**
 * The playground in a browser. Texts of catalogs only ever become text nodes, but for the picture of a graph, which
 * escapes them itself.
 */
import type { Finding } from '../catalog/finding.ts';
import { parseJson } from '../catalog/json.ts';
import type { PackageGraph } from '../catalog/olm/graph/graph-document.ts';
import { button, el, elementOf, option, turnTheme } from '../pipeline/report/browser/elements.ts';
import { findingArticle, groupItem, groupsOf, overview } from '../pipeline/report/browser/findings.ts';
import { packageView } from '../pipeline/report/browser/package-view.ts';
import { svgText } from '../pipeline/report/pictures/svg.ts';
import type { Answer, Mirror, Question, Reply, Texts } from './answer.ts';
import { openEditor } from './editor.ts';
import { chosenFiles, droppedFiles, type Opened } from './opened-files.ts';
import { fragmentOf, LONGEST_LINK, type Shared, sharedIn } from './share.ts';

interface Example extends Shared {
  readonly title: string;
}

/** How long typing must pause before the text is examined. */
const PAUSE_MS = 300;
/** More findings than these have a table of rules above them. */
const MOST_ITEMS = 12;

const examples = parseJson(elementOf('examples').textContent ?? '[]') as readonly Example[];
const workerUrl = URL.createObjectURL(
  new Blob([elementOf('worker').textContent ?? ''], { type: 'text/javascript' }),
);
const editor = openEditor(elementOf('editor'), edited);
const name = elementOf('name', HTMLInputElement);
const file = elementOf('file', HTMLSelectElement);
const panel = elementOf('panel');
const chosen = elementOf('example', HTMLSelectElement);
/** The page of all rules, with an anchor for each. */
const rules = elementOf('rules', HTMLAnchorElement).href;
let files: Record<string, string> = {};
let before: Texts = {};
let mirror = { image: '', to: 'mirror.example.com/olm' };
let answer: Answer | undefined;
let worker: Worker | undefined;
let timer = 0;
let tab = 'Findings';
let chosenPackage = '';
let chosenFile = 'mapping.txt';

function begin(): void {
  chosen.append(option('', 'your own catalog'), ...examples.map(({ title }, i) => option(String(i), title)));
  chosen.addEventListener('change', () => {
    const example = examples[Number(chosen.value)];
    if (chosen.value !== '' && example) show(example);
  });
  picker('open', 'files');
  picker('open-folder', 'folder');
  elementOf('share').addEventListener('click', () => void share());
  elementOf('theme').addEventListener('click', turnTheme);
  elementOf('keep').addEventListener('click', () => {
    before = { ...files };
    examineSoon();
  });
  elementOf('undo').addEventListener('click', () => {
    const example = chosen.value;
    show({ name: name.value, files: before, before });
    chosen.value = example;
  });
  elementOf('stop').addEventListener('click', () => {
    worker?.terminate();
    worker = undefined;
    working(false);
    elementOf('verdict').textContent = 'Stopped';
  });
  name.addEventListener('input', examineSoon);
  file.addEventListener('change', () => openFile(file.value));
  document.addEventListener('dragover', (event) => event.preventDefault());
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    if (event.dataTransfer) void take(droppedFiles(event.dataTransfer));
  });
  window.addEventListener('hashchange', () => void fromLink());
  void fromLink();
}

function picker(press: string, input: string): void {
  const field = elementOf(input, HTMLInputElement);
  elementOf(press).addEventListener('click', () => field.click());
  field.addEventListener('change', () => {
    if (field.files && field.files.length > 0) void take(chosenFiles(field.files));
    field.value = '';
  });
}

/** Shows what a link holds, or the first example. */
async function fromLink(): Promise<void> {
  const [first] = examples;
  try {
    const shared = (await sharedIn(location.hash)) ?? (Object.keys(files).length === 0 ? first : undefined);
    if (shared) show(shared);
  } catch (error) {
    if (first && Object.keys(files).length === 0) show(first);
    notice(error);
  }
}

async function take(opening: Promise<Opened>): Promise<void> {
  try {
    const { texts, left } = await opening;
    if (Object.keys(texts).length === 0) throw new Error(left[0] ?? 'there are no files in it');
    const platform = Object.keys(texts)
      .join('\n')
      .match(/\bv?4\.\d+\b/)?.[0];
    show({ name: platform ?? 'catalog', files: texts });
    const [first = '', ...more] = left;
    notice(more.length > 0 ? `${first}, and ${more.length} more` : first);
  } catch (error) {
    notice(error);
  }
}

function notice(what: unknown): void {
  elementOf('notice').textContent = what instanceof Error ? what.message : String(what);
}

function show(shared: Shared): void {
  notice('');
  const at = (examples as readonly Shared[]).indexOf(shared);
  chosen.value = at === -1 ? '' : String(at);
  answer = undefined;
  working(true);
  files = { ...shared.files };
  before = shared.before ?? shared.files;
  name.value = shared.name;
  mirror = { ...mirror, image: '' };
  const names = Object.keys(files);
  file.replaceChildren(...names.map((path) => option(path)));
  openFile(names[0] ?? '');
  examineSoon();
}

function openFile(path: string): void {
  file.value = path;
  editor.open(files[path] ?? '');
  mark();
}

function edited(): void {
  files[file.value] = editor.text();
  examineSoon();
}

function examineSoon(): void {
  clearTimeout(timer);
  timer = window.setTimeout(ask, PAUSE_MS);
}

function ask(): void {
  worker?.terminate();
  worker = new Worker(workerUrl);
  worker.addEventListener('message', ({ data }: MessageEvent<Reply>) => {
    working(false);
    if ('error' in data) return failed(data.error);
    answer = data.answer;
    elementOf('verdict').textContent = answer.headline;
    mark();
    showResults();
  });
  worker.addEventListener('error', (event) => failed(event.message));
  working(true);
  worker.postMessage(question());
}

function question(): Question {
  const isEdited = JSON.stringify(before) !== JSON.stringify(files);
  return {
    name: name.value,
    files,
    ...(isEdited ? { before } : {}),
    today: new Date().toISOString().slice(0, 10),
    image: imageName(),
    mirrorTo: mirror.to,
  };
}

/** The reference of the index image: the person's, or one with the catalog's name as its tag. */
function imageName(): string {
  const tag = name.value.replaceAll(/[^\w.-]/g, '').replace(/^[.-]+/, '');
  return mirror.image || `registry.example.com/my-org/catalog:${tag || 'latest'}`;
}

function working(is: boolean): void {
  elementOf('stop').hidden = !is;
  if (is) elementOf('verdict').textContent = 'Checking…';
}

function failed(why: string): void {
  working(false);
  answer = undefined;
  elementOf('verdict').textContent = `Could not check: ${why}`;
  panel.replaceChildren();
}

/** Marks the findings of the file that is open. */
function mark(): void {
  editor.mark((answer?.findings ?? []).filter(({ location }) => location.file === file.value));
}

function showResults(): void {
  if (!answer) return;
  const { findings, graph, impact, mirror: planned, kind } = answer;
  const views: [string, string, () => Node[]][] = [
    ['Findings', `Findings (${findings.length})`, () => findingsView(answer as Answer)],
  ];
  if (kind === 'catalog') {
    views.push(['Paths', 'Upgrade paths', () => pathsView(graph.catalogs[0]?.packages ?? [])]);
    views.push(['Impact', 'Impact of the edit', () => impactView(impact)]);
  }
  if (planned) views.push(['Mirror', 'Disconnected', () => mirrorView(planned)]);
  const [, , view] = views.find(([id]) => id === tab) ?? views[0] ?? [];
  const tabs = views.map(([id, title]) => {
    const one = button(title, () => {
      tab = id;
      showResults();
      document.getElementById(`tab-${id}`)?.focus();
    });
    const isChosen = id === tab || (id === 'Findings' && !views.some(([other]) => other === tab));
    one.id = `tab-${id}`;
    one.setAttribute('role', 'tab');
    one.setAttribute('aria-selected', String(isChosen));
    one.setAttribute('aria-controls', 'panel');
    one.tabIndex = isChosen ? 0 : -1;
    if (isChosen) panel.setAttribute('aria-labelledby', one.id);
    return one;
  });
  elementOf('tabs').replaceChildren(...tabs);
  elementOf('tabs').onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const at = tabs.findIndex((one) => one.tabIndex === 0);
    tabs[(at + step + tabs.length) % tabs.length]?.click();
  };
  panel.replaceChildren(...(view?.() ?? []));
}

function findingsView({ findings, summary }: Answer): Node[] {
  return [
    ...summary.map((line) => el('p', {}, [line])),
    ...(findings.length > MOST_ITEMS ? [overview(findings, pageOf)] : []),
    ...groupsOf(findings).map((group) => groupItem(group, findingItem)),
  ];
}

function findingItem(finding: Finding): HTMLElement {
  const { location: place, package: of } = finding;
  const go = button(`${place.file}:${place.line}`, () => {
    if (files[place.file] === undefined) return;
    if (file.value !== place.file) openFile(place.file);
    editor.go(place.line, place.column);
  });
  return findingArticle(finding, { about: of === undefined ? [] : [of, ' '], where: [go], pages: pageOf });
}

function pageOf(rule: string): string {
  return `${rules}#${rule.replace('/', '-')}`;
}

function pathsView(packages: readonly PackageGraph[]): Node[] {
  const graph = packages.find((one) => one.package === chosenPackage) ?? packages[0];
  if (!graph) return [el('p', {}, ['There is no package with a channel.'])];
  const select = el(
    'select',
    { id: 'package' },
    packages.map((one) => option(one.package)),
  );
  select.value = graph.package;
  select.addEventListener('change', () => {
    chosenPackage = select.value;
    showResults();
  });
  const choice =
    packages.length > 1 ? [el('p', {}, [el('label', { for: 'package' }, ['Package ']), select])] : [];
  return [...choice, ...changeView(graph.package), ...packageView(graph, name.value)];
}

/** The upgrades of a package before and after the edit, and what the findings say of them. */
function changeView(of: string): Node[] {
  const change = answer?.changes?.[of];
  if (!change) return [];
  const about = (answer?.findings ?? []).filter(
    (one) => one.package === of && one.severity === 'error' && one.rule.startsWith('graph/'),
  );
  const picture = el(
    'div',
    { class: 'picture', tabindex: '0', role: 'region', 'aria-label': 'Upgrades before and after the edit' },
    [],
  );
  picture.innerHTML = svgText(change, { interactive: false, styled: false });
  return [
    el('h2', {}, ['What the edit changes']),
    ...about.map(({ message }) => el('p', { class: 'warn' }, [message])),
    picture,
    el('p', { class: 'legend' }, ['Orange: no upgrade path to a channel head. Red: removed. Green: added.']),
  ];
}

function impactView(impact: readonly string[] | undefined): Node[] {
  if (!impact) {
    const text = 'Edit the catalog: what changes for clusters that run each version appears here.';
    return [el('p', {}, [text])];
  }
  if (impact.length === 0) return [el('p', {}, ['The edit changes nothing for installed versions.'])];
  const stuck = impact.some((line) => /; after: .*(?:stuck|an error)/.test(line));
  return [
    el('p', { class: stuck ? 'warn' : 'good' }, [
      stuck
        ? 'Some installed versions cannot reach a channel head.'
        : 'Every version in the list reaches a channel head.',
    ]),
    el('pre', { tabindex: '0', 'aria-label': 'Impact on installed versions' }, [impact.join('\n')]),
  ];
}

function mirrorView({ lines, ready, files: written }: Mirror): Node[] {
  const names = Object.keys(written);
  if (!names.includes(chosenFile)) chosenFile = names[0] ?? '';
  const select = el(
    'select',
    { id: 'document' },
    names.map((one) => option(one)),
  );
  select.value = chosenFile;
  select.addEventListener('change', () => {
    chosenFile = select.value;
    showResults();
  });
  return [
    el('div', { class: 'fields' }, [
      field('image', 'Index image', imageName(), (value) => {
        mirror = { ...mirror, image: value };
      }),
      field('mirror-to', 'Mirror', mirror.to, (value) => {
        mirror = { ...mirror, to: value };
      }),
    ]),
    ...lines.map((line) => el('p', { class: ready ? 'good' : 'warn' }, [line])),
    ...(names.length === 0
      ? []
      : [
          el('p', {}, [
            el('label', { for: 'document' }, ['Document ']),
            select,
            ' ',
            button('Download', () => download(chosenFile, written[chosenFile] ?? '')),
          ]),
          el('pre', { tabindex: '0', 'aria-label': chosenFile }, [written[chosenFile] ?? '']),
        ]),
  ];
}

function field(id: string, title: string, value: string, take: (value: string) => void): HTMLElement {
  const input = el('input', { id, value, spellcheck: 'false', autocomplete: 'off' }, []);
  input.addEventListener('change', () => {
    take(input.value.trim());
    ask();
  });
  return el('span', {}, [el('label', { for: id }, [`${title} `]), input]);
}

function download(called: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  el('a', { href: url, download: called }, []).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

async function share(): Promise<void> {
  const isEdited = JSON.stringify(before) !== JSON.stringify(files);
  const fragment = await fragmentOf({ name: name.value, files, ...(isEdited ? { before } : {}) });
  if (fragment.length > LONGEST_LINK) {
    const size = Math.round(fragment.length / 1000);
    return notice(`A link would have ${size} kB, and chats and mail cut those: share the file instead.`);
  }
  history.replaceState(null, '', fragment);
  try {
    await navigator.clipboard.writeText(location.href);
    notice('The link is in the clipboard. It holds the whole catalog.');
  } catch {
    notice('Copy the link from the address bar. It holds the whole catalog.');
  }
}

begin();
