import { type Asset, createAsset, serveAsset, serveMissing } from '../http/asset.ts';
import type { HttpRequest, HttpResponse, Mount } from '../http/exchange.ts';
import { plainText } from '../http/respond.ts';
import { buildSite, type Site, type SiteFile } from './site.ts';

/** Nothing from elsewhere, nothing inline, in no frame. The search is a form, and its page a script. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const secure = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
};

const prefix = '/docs';

/**
 * The documentation at `/docs/`. A path is looked up among the addresses of the site as the client sent it and never becomes the
 * name of a file; so no path leads out of the documentation.
 */
export function createDocs(): Mount {
  let site: Promise<Site | undefined> | undefined;
  /** Built for the first request, so that it costs nothing as long as nobody reads it. */
  const built = (): Promise<Site | undefined> => {
    site ??= buildSite().catch((error) => {
      site = undefined;
      throw error;
    });
    return site;
  };
  const assets = new Map<SiteFile, Promise<Asset>>();
  const assetOf = (file: SiteFile): Promise<Asset> => {
    const asset = assets.get(file) ?? createAsset(file.contentType, file.body);
    assets.set(file, asset);
    return asset;
  };
  let missing: SiteFile | undefined;

  return {
    prefix,
    plainHttp: false,
    bodyLimit: 0,
    async handle(request: HttpRequest): Promise<HttpResponse> {
      const { method, path } = request;
      if (method !== 'GET') {
        const { headers, ...refusal } = refuse(405, 'method not allowed');
        return { ...refusal, headers: { ...headers, allow: 'GET, HEAD' } };
      }
      const found = await built();
      if (!found) return refuse(404, 'the documentation is not part of this installation');
      const address = path.slice(prefix.length + 1);
      const index = `${address}${address === '' ? '' : '/'}index.html`;
      if (!path.endsWith('/') && found.files.has(index))
        return { status: 308, headers: { ...secure, location: `${path}/` }, body: '' };
      const file = found.files.get(path.endsWith('/') ? `${address}index.html` : address);
      if (file) return serveAsset(request, await assetOf(file), { ...secure, 'cache-control': 'no-cache' });
      missing ??= found.notFound(`${prefix}/`);
      return serveMissing(request, await assetOf(missing), secure);
    },
    refuse: (status, detail) => (status === 413 ? refuse(404, 'not found') : refuse(status, detail)),
  };
}

function refuse(status: number, detail: string): HttpResponse {
  const { headers, ...response } = plainText(status, detail);
  return { ...response, headers: { ...secure, ...headers } };
}
