import type { Page } from '#tests/fixtures/browser.ts';

/** What a person does with a page and reads on it. Everything waits until it can be done. */
export const hands = (page: () => Page) => ({
  /** What the page says beside a name. */
  fact: (name: string): Promise<string> =>
    page().until(`[...document.querySelectorAll('.facts dt')].find((dt) => dt.innerText === ${JSON.stringify(name)})
      ?.nextElementSibling.innerText`),
  /** Waits until it says this. */
  factIs: (name: string, value: string): Promise<unknown> =>
    page().until(`[...document.querySelectorAll('.facts dt')].some((dt) => dt.innerText === ${JSON.stringify(name)}
      && dt.nextElementSibling.innerText === ${JSON.stringify(value)})`),
  /** Presses the button, or follows the link, that says this; in the dialog, where one is open. */
  press: (label: string): Promise<unknown> =>
    page().until(`{ const found = [...(document.querySelector('dialog') ?? document.querySelector('main'))
      .querySelectorAll('button, a')].find((one) => one.innerText.trim() === ${JSON.stringify(label)});
      found?.click(); found !== undefined }`),
  /** Likewise, of a choice. */
  choose: (name: string, title: string): Promise<unknown> =>
    page().until(`{ const select = (document.querySelector('dialog') ?? document).querySelector('[name=${name}]');
      const option = [...(select?.options ?? [])].find(({ text }) => text === ${JSON.stringify(title)});
      if (option) { select.value = option.value; select.dispatchEvent(new Event('change', { bubbles: true })); }
      option !== undefined }`),
});
