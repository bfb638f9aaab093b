/** Elements made of text: nothing that is given to them is ever read as markup. */

/** An element with attributes and children. */
export function el<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>>,
  children: readonly (Node | string)[],
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** An element of the page by its id. @throws Error if the page has none of this kind with it */
export function elementOf<T extends HTMLElement = HTMLElement>(id: string, kind?: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof (kind ?? HTMLElement))) throw new Error(`the page lacks #${id}`);
  return found as T;
}

/** From the theme that is shown to the other one. */
export function turnTheme(): void {
  const root = document.documentElement;
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const now = root.dataset['theme'] ?? (dark ? 'dark' : 'light');
  root.dataset['theme'] = now === 'dark' ? 'light' : 'dark';
}

/** One choice of a select. */
export function option(value: string, text: string = value): HTMLOptionElement {
  return el('option', { value }, [text]);
}

export function button(text: string, press: () => void): HTMLButtonElement {
  const element = el('button', { type: 'button' }, [text]);
  element.addEventListener('click', press);
  return element;
}
