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

/** One choice of a select. */
export function option(value: string, text: string = value): HTMLOptionElement {
  return el('option', { value }, [text]);
}

export function button(text: string, press: () => void): HTMLButtonElement {
  const element = el('button', { type: 'button' }, [text]);
  element.addEventListener('click', press);
  return element;
}
