import { jwt } from '@elysiajs/jwt';
import type { Principal } from '#core/access/principal.ts';
import type { ServiceGrant } from '#core/accounts/service-sign-in.ts';
import type { SessionGrant } from '#core/accounts/sessions.ts';
import { Fault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Clock } from '#core/ports/platform.ts';
import type { HttpRequest } from '../http/exchange.ts';
import { HttpError, TokenError } from './errors.ts';

/** The claims in a user's token. They hold nothing secret, because anybody with the token can read them. */
interface UserClaims {
  /** The user's id. */
  readonly sub: string;
  readonly session: number;
  readonly use: 'access' | 'refresh';
  /** Refresh tokens only. */
  readonly generation?: number;
}

/** The claims in a service account's token. */
interface ServiceClaims {
  /** `sa_<id>` */
  readonly sub: string;
  readonly use: 'service';
  readonly generation: number;
}

type Claims = Readonly<Record<string, unknown>>;

interface Signer {
  sign(claims: object): Promise<string>;
  verify(token: string, options: { readonly currentDate: Date }): Promise<Claims | false>;
}

const maxTokenLength = 4096;
/** Where the scrape token of the configuration is valid. */
const metricsPath = /^\/metrics\/?$/;

/** Issues and verifies JWTs (RFC 7519) with HS256 and a key that all instances share. */
export class Tokens {
  readonly #gateway: Gateway;
  readonly #clock: Clock;
  #signer: Promise<Signer> | undefined;

  constructor(gateway: Gateway, clock: Clock) {
    this.#gateway = gateway;
    this.#clock = clock;
  }

  async pair(grant: SessionGrant): Promise<{ access: string; refresh: string }> {
    const signer = await this.#open();
    const common = { sub: String(grant.user), session: grant.session };
    const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);
    return {
      access: await signer.sign({ ...common, use: 'access', exp: seconds(grant.accessUntil) }),
      refresh: await signer.sign({
        ...common,
        use: 'refresh',
        generation: grant.generation,
        exp: seconds(grant.refreshUntil),
      }),
    };
  }

  /** Returns the token response for a service account (RFC 6749 §5.1). */
  async forService({ account, generation, lifetime, until }: ServiceGrant) {
    const claims: ServiceClaims = { sub: `sa_${account}`, use: 'service', generation };
    // Rounded up, so that the token is valid for all of `expires_in`.
    const access = await (await this.#open()).sign({ ...claims, exp: Math.ceil(until / 1000) });
    return { access, token_type: 'Bearer', expires_in: lifetime / 1000 };
  }

  /** Returns the claims of a refresh token. Throws TokenError. */
  async verifyRefresh(token: string): Promise<UserClaims> {
    const claims = await this.#claims(token);
    if (!isUserClaims(claims) || claims.use !== 'refresh') throw new TokenError(true);
    return claims;
  }

  /**
   * Returns the account of `Authorization: Bearer`, or the scraper of the metrics. Throws TokenError, or HttpError 403 for
   * a service account in a browser.
   */
  async principal({ headers, path, peer }: HttpRequest): Promise<Principal> {
    const match = /^Bearer +([\w.~+/=-]+) *$/i.exec(headers.authorization ?? '');
    if (!match) throw new TokenError(headers.authorization !== undefined);
    const { accounts } = this.#gateway;
    const scraper = metricsPath.test(path) ? accounts.scraper(match[1]!) : undefined;
    if (scraper) return scraper;
    const claims = await this.#claims(match[1]!);
    try {
      if (isUserClaims(claims) && claims.use === 'access') {
        return await accounts.principal(Number(claims.sub), claims.session, peer.address);
      }
      if (!isServiceClaims(claims)) throw new TokenError(true);
      const id = Number(claims.sub.slice(3));
      const principal = await accounts.servicePrincipal(id, claims.generation, peer.address);
      if (isFromBrowser(headers)) throw new HttpError(403, 'service accounts cannot be used in a browser');
      return principal;
    } catch (error) {
      if (error instanceof Fault && error.code === 'unauthenticated') throw new TokenError(true);
      throw error;
    }
  }

  async #claims(token: string): Promise<Claims> {
    const signer = await this.#open();
    const currentDate = new Date(this.#clock.now());
    const claims =
      token.length <= maxTokenLength && isCompact(token) && (await signer.verify(token, { currentDate }));
    if (!claims) throw new TokenError(true);
    return claims;
  }

  #open(): Promise<Signer> {
    this.#signer ??= this.#gateway.accounts
      .tokenKey()
      .then((secret) => jwt({ name: 'jwt', secret, alg: 'HS256' }).decorator.jwt as unknown as Signer);
    return this.#signer;
  }
}

/** Whether a token is in canonical base64url without padding (RFC 7515 §2). The library would accept other spellings too. */
const isCompact = (token: string): boolean => {
  const parts = token.split('.');
  return (
    parts.length === 3 && parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
  );
};

const isUserClaims = (claims: Claims): claims is Claims & UserClaims =>
  typeof claims.sub === 'string' && typeof claims.session === 'number';

const isServiceClaims = (claims: Claims): claims is Claims & ServiceClaims =>
  typeof claims.sub === 'string' &&
  /^sa_\d+$/.test(claims.sub) &&
  claims.use === 'service' &&
  typeof claims.generation === 'number';

/** Whether a browser sent the request. Browsers always send one of these fields; programs usually send neither. */
export const isFromBrowser = (headers: HttpRequest['headers']): boolean =>
  headers['sec-fetch-site'] !== undefined || headers.origin !== undefined;
