import { openBrowser, type Page } from '#tests/fixtures/browser.ts';
import { adminPassword, type Server, startServer } from '#tests/fixtures/server.ts';

export { adminPassword };

/** A started gateway, a browser that looks at its console, and the API beside it. */
export interface Site extends AsyncDisposable {
  readonly server: Server;
  /** Another tab. */
  tab(): Promise<Page>;
  /** As `admin`; the body of the answer. */
  api(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Creates a user, who has chosen this password already. */
  user(username: string, password: string, role: number): Promise<void>;
  /** Shows a path; signs in where that is asked for. */
  signIn(page: Page, path: string, username?: string, password?: string): Promise<void>;
  /** Shows a path, and waits until everything on it is there. */
  show(page: Page, path: string): Promise<void>;
}

/** Nothing is on its way any more. */
export const settled =
  "document.querySelector('main h1') && !document.querySelector('.waiting') && !document.querySelector('[aria-busy=true]')";

/** `config`: the text of a postern.toml. */
export async function startSite(config?: string): Promise<Site> {
  const server = await startServer(config === undefined ? {} : { config });
  try {
    const browser = await openBrowser();
    const { baseUrl } = server;
    const request = (method: string, path: string, body: unknown, token?: string): Promise<Response> =>
      fetch(`${baseUrl}${path}`, {
        method,
        tls: { rejectUnauthorized: false },
        headers: {
          'content-type': 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    const login = { username: 'admin', password: adminPassword };
    const newToken = async (): Promise<string> =>
      ((await (await request('POST', '/api/token/', login)).json()) as { access: string }).access;
    let token = await newToken();
    const site: Site = {
      server,
      tab: () => browser.page(),
      async api(method, path, body) {
        let response = await request(method, path, body, token);
        if (response.status === 401) {
          token = await newToken();
          response = await request(method, path, body, token);
        }
        const text = await response.text();
        if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
        return text === '' ? undefined : JSON.parse(text);
      },
      async user(username, password, role) {
        const given = `${password}, for now`;
        await site.api('POST', '/api/users/', { username, password: given, role });
        const signIn = await request('POST', '/api/token/', { username, password: given });
        const { access } = (await signIn.json()) as { access: string };
        const change = { current_password: given, new_password: password };
        const { status } = await request('POST', '/api/me/password/', change, access);
        if (status !== 200) throw new Error(`password of ${username}: ${status}`);
      },
      async signIn(page, path, username = 'admin', password = adminPassword) {
        await page.open(`${baseUrl}${path}`);
        const isAsked =
          "document.querySelector('.sign-in') ? 'yes' : document.querySelector('.navigation') && 'no'";
        if ((await page.until(isAsked)) === 'no') return;
        await page.type('.sign-in [name=username]', username);
        await page.type('.sign-in [name=password]', password);
        await page.press('Enter');
        await page.until("document.querySelector('.navigation')");
      },
      async show(page, path) {
        await page.evaluate(
          `{ const a = document.createElement('a'); a.href = ${JSON.stringify(path)}; document.body.append(a); a.click(); a.remove(); }`,
        );
        await page.until(`location.pathname + location.search === ${JSON.stringify(path)} && ${settled}`);
      },
      async [Symbol.asyncDispose]() {
        await browser[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
    return site;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}
