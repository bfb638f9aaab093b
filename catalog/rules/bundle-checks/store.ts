/** The fields that OperatorHub and the OpenShift console need to show an operator. */

import { type Inspected, memberObject, memberObjects, memberText } from '../../bundle/inspect.ts';
import { tryReadJson } from '../../go/json.ts';
import { base64Defect, isObject } from '../../go/shape.ts';
import { tryParseVersion } from '../../version/version.ts';
import type { Report } from '../rule.ts';
import { csvCheck, csvText } from './csv.ts';

type Check = (bundle: Inspected, report: Report) => void;

export const checkProvider: Check = csvCheck((csv, report) => {
  if (memberText(memberObject(csv.spec, 'provider'), 'name').trim() !== '') return;
  report(`${csvText(csv)} has no provider.name`, csv.at('spec', 'provider'), {
    hint: 'provider: {name: Example Inc}',
  });
});

export const checkMaintainers: Check = csvCheck((csv, report) => {
  for (const [i, maintainer] of memberObjects(csv.spec, 'maintainers').entries()) {
    const [name, email] = [memberText(maintainer, 'name'), memberText(maintainer, 'email')];
    const place = csv.at('spec', 'maintainers', i, 'email');
    if (name === '' || email === '')
      report(`${csvText(csv)}: maintainer ${i} must have a name and an email`, place);
    if (email !== '' && !isAddress(email)) {
      report(
        `${csvText(csv)}: the email ${JSON.stringify(email)} of maintainer ${i} is not a single address`,
        place,
      );
    }
  }
});

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\uffff-]+";
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';
const ADDRESS = new RegExp(`^(?:${QUOTED}|${ATOM}(?:\\.${ATOM})*)@(?:${ATOM}(?:\\.${ATOM})*|\\[[^\\]]+\\])$`);
/** `Jane Doe <jane@example.com>`, with the address in the group. */
const NAMED = /^(?:"(?:[^"\\]|\\.)*"\s*|[^<>@,]*)<([^<>]*)>$/;

/** Characters of an address with its name: mail takes 320 without one, and what is longer is read too slowly. */
const LONGEST_ADDRESS = 2000;

/** Whether a text is one address of RFC 5322, with or without a name before it. */
function isAddress(email: string): boolean {
  if (email.length > LONGEST_ADDRESS) return false;
  // A comment may follow, in parentheses.
  const trimmed = email.replace(/\([^()]*\)\s*$/, '').trim();
  return ADDRESS.test(NAMED.exec(trimmed)?.[1] ?? trimmed);
}

export const checkLinks: Check = csvCheck((csv, report) => {
  for (const [i, link] of memberObjects(csv.spec, 'links').entries()) {
    const url = memberText(link, 'url');
    const place = csv.at('spec', 'links', i, 'url');
    if (memberText(link, 'name') === '' || url === '')
      report(`${csvText(csv)}: link ${i} must have a name and a url`, place);
    if (url !== '' && !isRequestUri(url))
      report(`${csvText(csv)}: the url ${JSON.stringify(url)} of link ${i} is not a valid URL`, place);
  }
});

/** Whether a text is an absolute URL or an absolute path, as Go's url.ParseRequestURI decides. */
function isRequestUri(url: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\x00-\x1f\x7f]/.test(url) || /%(?![0-9A-Fa-f]{2})/.test(url.replace(/\?.*/s, ''))) return false;
  if (url.startsWith('/') || url === '*') return true;
  const absolute = /^[A-Za-z][A-Za-z0-9+.-]*:(.*)$/.exec(url);
  if (!absolute) return false;
  const host = /^\/\/([^/?#]*)/.exec(absolute[1] ?? '')?.[1];
  return host === undefined || isHost(host);
}

/** A host with a port or without, perhaps after a user; an address of IPv6 is in brackets. */
function isHost(authority: string): boolean {
  if (!/^[^\s"<>\\^`{|}]*$/.test(authority)) return false;
  const host = authority.replace(/^.*@/s, '');
  return host.startsWith('[') ? /^\[[^\]]*\](?::[0-9]*)?$/.test(host) : /^[^:[\]]*(?::[0-9]*)?$/.test(host);
}

export const checkVersion: Check = csvCheck((csv, report) => {
  const version = memberText(csv.spec, 'version');
  if (version === '' || version === '0.0.0') {
    report(`${csvText(csv)} has no version`, csv.at('spec', 'version'), { hint: 'version: 1.0.0' });
  } else if (!tryParseVersion(version)) {
    const message = `${csvText(csv)}: version ${JSON.stringify(version)} is not a valid semantic version: opm rejects a catalog with it`;
    report(message, csv.at('spec', 'version'), { severity: 'warning' });
  }
});

const MEDIA_TYPES = ['image/gif', 'image/jpeg', 'image/png', 'image/svg+xml'];

export const checkIcon: Check = csvCheck((csv, report) => {
  const icons = memberObjects(csv.spec, 'icon');
  if (icons.length > 1)
    report(`${csvText(csv)} has ${icons.length} icons; consoles show only one`, csv.at('spec', 'icon', 1));
  const [icon] = icons;
  if (!icon) return;
  const [data, type] = [memberText(icon, 'base64data'), memberText(icon, 'mediatype')];
  if (data === '' || type === '')
    report(`${csvText(csv)}: the icon must have base64data and a mediatype`, csv.at('spec', 'icon', 0));
  if (type !== '' && !MEDIA_TYPES.includes(type)) {
    const message = `${csvText(csv)}: the icon's mediatype ${JSON.stringify(type)} must be one of ${MEDIA_TYPES.join(', ')}`;
    report(message, csv.at('spec', 'icon', 0, 'mediatype'));
  }
});

export const checkIconData: Check = csvCheck((csv, report) => {
  const data = memberText(memberObjects(csv.spec, 'icon')[0] ?? {}, 'base64data');
  if (data === '' || base64Defect(data) < 0) return;
  report(
    `${csvText(csv)}: the icon's base64data is not valid base64`,
    csv.at('spec', 'icon', 0, 'base64data'),
  );
});

export const checkIconPresent: Check = csvCheck((csv, report) => {
  if (memberObjects(csv.spec, 'icon').length > 0) return;
  report(`${csvText(csv)} has no icon`, csv.at('spec'), {
    hint: 'icon: [{base64data: …, mediatype: image/svg+xml}]',
  });
});

const CAPABILITIES = ['Basic Install', 'Seamless Upgrades', 'Full Lifecycle', 'Deep Insights', 'Auto Pilot'];

export const checkCapabilities: Check = csvCheck((csv, report) => {
  const level = csv.annotations['capabilities'];
  if (level === undefined || CAPABILITIES.includes(level)) return;
  const message = `${csvText(csv)}: capabilities ${JSON.stringify(level)} must be one of ${CAPABILITIES.join(', ')}`;
  report(message, csv.at('metadata', 'annotations', 'capabilities'));
});

/** The categories of OperatorHub. */
export const CATEGORIES: readonly string[] = [
  'AI/Machine Learning',
  'Application Runtime',
  'Big Data',
  'Cloud Provider',
  'Database',
  'Developer Tools',
  'Integration & Delivery',
  'Logging & Tracing',
  'Modernization & Migration',
  'Monitoring',
  'Networking',
  'Observability',
  'OpenShift Optional',
  'Security',
  'Storage',
  'Streaming & Messaging',
];

export const checkCategories: Check = csvCheck((csv, report, { options }) => {
  const value = csv.annotations['categories'];
  if (value === undefined) return;
  const place = csv.at('metadata', 'annotations', 'categories');
  const allowed = options.categories === undefined ? CATEGORIES : customCategories(options.categories);
  if (!allowed) {
    report('the custom categories cannot be read: expected {"categories": ["…"]}', place);
    return;
  }
  const kind = options.categories === undefined ? 'standard' : 'custom';
  for (const category of value.split(',')) {
    if (allowed.includes(category.trim())) continue;
    const message = `${csvText(csv)}: ${JSON.stringify(category)} is not one of the ${kind} categories`;
    report(message, place, { hint: `one of ${allowed.join(', ')}` });
  }
});

/** The allowed categories in the JSON of an option; undefined for JSON of another form. */
function customCategories(json: string): readonly string[] | undefined {
  const value = tryReadJson(json);
  const found = isObject(value) ? value['categories'] : undefined;
  return Array.isArray(found) ? found.map(String) : undefined;
}
